import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Credentials that run out at random") struct CredentialRandomTests {
    private struct Session: Sendable {
        var user: String
        var token: String
    }

    /// What the program was told that it has saved.
    private struct Album {
        var id: NSManagedObjectID
        var title: String
    }

    /// One run of a program with its users.
    private final class Run {
        let service: TokenService
        let session = Mutexed(Session(user: "anna", token: "anna 0"))
        var program: TokenProgram
        /// What others than the test's own thread draw lots by.
        let lots: Mutexed<SeededGenerator>
        let faults: Mutexed<Double>
        var albums: [Album] = []
        /// The users who have deleted albums, by the identifiers of the service.
        var deleters: [String: String] = [:]
        /// The user of whom the store knows that the credentials are not taken.
        var waiting: String?
        var number = 0
        var tokens: [String: String] = [:]
        var log: [String] = []
        private let folder: ScratchFolder

        init(_ random: inout SeededGenerator) throws {
            let (lots, faults) = (Mutexed(SeededGenerator(seed: random.next())), Mutexed(0.1))
            (self.lots, self.faults) = (lots, faults)
            service = TokenService {
                lots.withValue { random in TokenService.Refusal.allCases[random.below(TokenService.Refusal.allCases.count)] }
            } passes: { _ in
                let rate = faults.withValue { $0 }
                return lots.withValue { random in random.chance(rate) ? (random.chance(0.5) ? nil : false) : true }
            }
            folder = try ScratchFolder("credentials")
            program = try Self.open(service, folder, session)
            for user in ["anna", "bob"] { renew(user) }
            signIn("anna")
        }

        private static func open(_ service: TokenService, _ folder: ScratchFolder, _ session: Mutexed<Session>) throws -> TokenProgram {
            try TokenProgram(service, at: folder.file("cache.sqlite"), token: { session.withValue { $0.token } }) { _, client in
                client.principal = { session.withValue { $0.user } }
            }
        }

        var user: String { session.withValue { $0.user } }

        func renew(_ user: String) {
            number += 1
            tokens[user] = "\(user) \(number)"
            service.signIn(user, "\(user) \(number)")
            if self.user == user { signIn(user) }
        }

        func signIn(_ user: String) {
            let token = tokens[user] ?? ""
            session.withValue { $0 = Session(user: user, token: token) }
        }

        func restart() throws {
            waiting = nil
            try program.coordinator.remove(program.store)
            program = try Self.open(service, folder, session)
            for index in albums.indices {
                albums[index].id = try #require(
                    program.coordinator.managedObjectID(forURIRepresentation: albums[index].id.uriRepresentation()))
            }
        }

        func title() -> String {
            number += 1
            return "\(user) \(number)"
        }

        /// Saves an edit; one of what another user has pending must be refused.
        func save(_ album: Album, _ edit: () throws -> Void) throws -> Bool {
            let pending = try program.store.pendingChanges().first { $0.objectID == album.id }
            do { try edit() } catch {
                #expect(pending?.principal != nil && pending?.principal != user, "\(error)")
                return false
            }
            #expect(pending?.principal == nil || pending?.principal == user)
            return true
        }
    }

    @Test(
        "Through tokens that run out, users that change, lost answers and restarts, each change is stored once, by its user, and requests are few"
    ) func random() async throws {
        let seed = TestSeed.current(for: "CredentialRandomTests.random")
        var random = SeededGenerator(seed: seed)
        var (rounds, waits) = (0, 0)
        for _ in TestRounds(seconds: 3, atLeast: 8) {
            rounds += 1
            let run = try Run(&random)
            func comment() -> Comment { "seed \(seed), round \(rounds): \(run.log.joined(separator: "; "))" }
            for _ in 0..<40 {
                let choice = random.below(13)
                let index = run.albums.isEmpty ? nil : random.below(run.albums.count)
                run.log.append("\(choice) \(run.user)")
                switch choice {
                case 0, 1:
                    let title = run.title()
                    run.albums.append(Album(id: try run.program.insert(title), title: title))
                case 2, 3:
                    guard let index else { continue }
                    let (album, title) = (run.albums[index], run.title())
                    if try run.save(album, { try run.program.update(album.id, title) }) { run.albums[index].title = title }
                case 4:
                    guard let index, random.chance(0.5) else { continue }
                    let album = run.albums[index]
                    let known = try run.program.store.resourceID(for: album.id)
                    guard try run.save(album, { try run.program.delete(album.id) }) else { continue }
                    if case .string(let album)? = known { run.deleters[album] = run.user }
                    run.albums.remove(at: index)
                case 5, 6: run.service.expire(random.chance(0.7) ? run.user : "anna")
                case 7: run.renew(run.user)
                case 8: run.signIn(run.user == "anna" ? "bob" : "anna")
                case 9: try run.restart()
                case 10:
                    run.service.forgetRequests()
                    do {
                        _ = try await run.program.titles()
                        // A token that was renewed meanwhile is read again after one refusal.
                        #expect(run.service.refused <= 1, comment())
                    } catch {
                        if run.service.refused > 0, (error as NSError).code != CredentialsExpiredError {
                            // Only where the connection to the page was lost.
                            #expect("\(error)".contains("could not") || "\(error)".contains("connection"), comment())
                        }
                    }
                default:
                    run.service.forgetRequests()
                    try await run.program.store.sendPending()
                    // At first as many as go side by side; then one change asks for all, and once more where the token was read again.
                    #expect(run.service.refused <= (run.waiting == run.user ? 2 : 8), comment())
                    let status = try run.program.store.status()
                    if status.awaitingCredentialsCount > 0 { waits += 1 }
                    run.waiting = run.service.refused > 0 && status.credentialsError != nil ? run.user : nil
                }
                let status = try run.program.store.status()
                let aside = try run.program.store.pendingChanges().compactMap(\.error).map(\.localizedDescription)
                expect(status.setAsideCount, equals: 0, "\(comment())\n\(aside)")
            }
            run.faults.withValue { $0 = 0 }
            for user in ["anna", "bob", "anna", "bob"] {
                run.renew(user)
                run.signIn(user)
                for _ in 0..<3 { try await run.program.store.sendPending() }
            }
            let left = try run.program.store.pendingChanges().map {
                "\($0.kind) \($0.state) \($0.principal ?? "-") \($0.error?.localizedDescription ?? "")"
            }
            expect(left, equals: [], comment())
            expect(run.service.titles.values.sorted(), equals: run.albums.map(\.title).sorted(), comment())
            var stored: Set<String> = []
            for taken in run.service.taken {
                if let title = taken.title {
                    #expect(title.hasPrefix(taken.user), comment())
                    #expect(stored.insert(title).inserted, comment())
                } else if let user = run.deleters[taken.album] {
                    expect(taken.user, equals: user, comment())
                }
            }
        }
        print("CredentialRandomTests: \(rounds) rounds, \(waits) times changes waited")
        #expect(waits > 0, "seed \(seed)")
    }
}
