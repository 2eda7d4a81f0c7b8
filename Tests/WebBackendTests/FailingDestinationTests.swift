import CoreData
import Foundation
import Logging
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// How a service fails for one resource among others.
private enum Refusal: String, CaseIterable, CustomTestStringConvertible {
    case forbidden, busy, failing, malformed, late
    var testDescription: String { rawValue }
    /// Whether it says nothing of a single resource: those that were asked for together wait together.
    var isAboutAll: Bool { self == .busy || self == .late }
}

/// Albums with a band each. One band cannot be read by its identifier, nor others together with it.
private final class RefusingBands: Transport {
    struct State {
        var refused: Set<Int> = []
        var requests: [(request: WebRequest, time: Duration)] = []
    }
    static let count = 12
    /// How many seconds the service wants not to be asked again, where it says so.
    private let wait: Double
    private let state: Synchronization.Mutex<State>
    private let refusal: Refusal
    private let start = ContinuousClock.now

    init(_ refusal: Refusal, refused: Set<Int>, wait: Double = 600) {
        (self.refusal, self.wait) = (refusal, wait)
        state = Synchronization.Mutex(State(refused: refused))
    }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let refused = state.withLock { state in
            state.requests.append((request, ContinuousClock.now - start))
            return state.refused
        }
        let asked = Self.bands(request)
        if !refused.isDisjoint(with: asked) {
            switch refusal {
            case .forbidden: return .json(#"{"detail": "not yours"}"#, status: 403)
            case .busy: return .json("{}", status: 429, headers: ["Retry-After": "\(wait)"])
            case .failing: return .json("{}", status: 500)
            case .malformed: return .json(#"[{"id": 3, "na"#)
            case .late: throw TransportError(.timedOut, request: "\(request.method.rawValue) \(request.url)")
            }
        }
        func band(_ number: Int) -> String { #"{"id": \#(number), "name": "band \#(number)"}"# }
        func album(_ number: Int) -> String { #"{"id": \#(number), "title": "album \#(number)", "band": \#(number)}"# }
        func list(_ items: [String]) -> WebResponse { .json("[\(items.joined(separator: ","))]") }
        if request.method != .get { return .json("{}") }
        if request.path == "/albums" { return list((1...Self.count).map(album)) }
        if request.path.hasPrefix("/albums/") { return .json(album(Int(request.path.dropFirst(8))!)) }
        if request.path.hasPrefix("/bands/") { return .json(band(asked[0])) }
        return list((asked.isEmpty ? Array(1...Self.count) : asked).map(band))
    }

    /// The bands that a request asks for by their identifiers.
    private static func bands(_ request: WebRequest) -> [Int] {
        guard request.path.hasPrefix("/bands") else { return [] }
        if let ids = request.query("ids") { return ids.split(separator: ",").compactMap { Int($0) } }
        return Int(request.path.dropFirst(7)).map { [$0] } ?? []
    }

    var requests: Int { state.withLock { $0.requests.count } }
    var changes: Int { state.withLock { $0.requests.filter { $0.request.method != .get }.count } }
    /// When a band was asked for by its identifier.
    func times(of band: Int) -> [Duration] { state.withLock { $0.requests.filter { Self.bands($0.request).contains(band) }.map(\.time) } }
    func mend() { state.withLock { $0.refused = [] } }

    /// A coordinator with a store over the service, with a cache between or without.
    ///
    /// - Parameter together: How many bands one request asks for.
    func coordinator(together: Int, isCached: Bool) throws -> NSPersistentStoreCoordinator {
        let some = WebCall(
            "some", path: "{path}",
            parameters: [
                WebParameter("SELF", templates: [.isIn: "ids={values}"], isRequired: true, maximumValues: together)
            ], filters: [])
        var style = ServiceStyle.plain
        style.saving = SavingStyle()
        let service = WebService(
            base, style: style,
            resources: [
                WebResource("Album", calls: [.list(filters: []), .one]),
                // Nobody reads them all for the sake of some.
                WebResource(
                    "Band", calls: [.list(filters: [], cost: .init(expectedRows: 100_000)), together > 1 ? some : .one]),
            ])
        let model = Music.model()
        var options = WebClient.Options()
        options.retries = .never
        // Its limits are those of each destination.
        options.rateLimit.obeysHeaders = false
        let backend = try WebBackend(service, model: model, transport: self, options: options)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        if isCached {
            var cache = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 3600))
            cache.sendsAutomatically = false
            try coordinator.addCachedStore(backend, at: nil, options: cache)
        } else {
            try coordinator.addRemoteStore(backend)
        }
        return coordinator
    }
}

@Suite("A destination that a web service fails for") struct FailingDestinationTests {
    fileprivate static let refused = 3

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The bands by their numbers.
    private func bands(_ context: NSManagedObjectContext) throws -> [Int: NSManagedObject] {
        let albums = try context.fetch(fetch("Album", by: ["title"]))
        expect(albums.count, equals: RefusingBands.count)
        return try Dictionary(
            uniqueKeysWithValues: albums.map { album in
                (Int(try #require(album.text("title")).dropFirst(6))!, try #require(album.value(forKey: "band") as? NSManagedObject))
            })
    }

    @Test(
        "Whatever it answers, the others are read right, it carries its error, and nothing else fails for it", .timeLimit(.minutes(30)),
        arguments: Refusal.allCases, [1, 50])
    fileprivate func one(_ refusal: Refusal, together: Int) async throws {
        for isCached in [false, true] {
            let service = RefusingBands(refusal, refused: [Self.refused])
            let coordinator = try service.coordinator(together: together, isCached: isCached)
            let (context, other) = (context(coordinator), context(coordinator))
            let areAlone = together == 1 || !refusal.isAboutAll
            try await context.perform {
                let bands = try bands(context)
                let before = service.requests
                for (number, band) in bands {
                    let name = band.text("name")
                    if number != Self.refused, areAlone {
                        expect(name, equals: "band \(number)")
                        #expect(band.faultError == nil)
                    } else {
                        // One that waits with it comes when the time is over.
                        #expect(name == "band \(number)" && number != Self.refused || name == nil && band.faultError != nil)
                    }
                }
                let sent = service.requests - before
                #expect(sent <= (together == 1 ? 12 : areAlone ? 10 : 24), "\(sent) requests")
                let band = try #require(bands[Self.refused])
                #expect(band.isFault)
                let error = try #require(band.faultError)
                switch refusal {
                case .forbidden: #expect("\(error)".contains("not yours"))
                default: #expect(!error.localizedDescription.isEmpty)
                }
                expect(try context.fetch(fetch("Album")).count, equals: RefusingBands.count)
                expect(try context.count(for: fetch("Album")), equals: RefusingBands.count)
                expect(service.changes, equals: 0)
            }
            // Another context has not read it: its saves are about others.
            try await other.perform {
                let album = try #require(try other.fetch(fetch("Album", "title == 'album 3'")).first)
                album.setValue("changed", forKey: "title")
                try other.save()
            }
            // This one has: its save says so once, before it writes.
            try await context.perform {
                let written = service.changes
                let album = try #require(try context.fetch(fetch("Album", "title == 'album 5'")).first)
                album.setValue("also changed", forKey: "title")
                #expect(throws: (any Error).self) { try context.save() }
                expect(service.changes, equals: written)
                #expect(album.hasChanges)
                try context.save()
                #expect(!album.hasChanges)
            }
        }
    }

    @Test(
        "It is asked for again after a refresh, or comes with a fetch, and not before", .timeLimit(.minutes(30)),
        arguments: Refusal.allCases, [false, true])
    fileprivate func again(_ refusal: Refusal, isCached: Bool) async throws {
        for isRefreshed in [false, true] {
            let service = RefusingBands(refusal, refused: [Self.refused])
            let context = context(try service.coordinator(together: 1, isCached: isCached))
            try await context.perform {
                let start = ContinuousClock.now
                let band = try #require(try bands(context)[Self.refused])
                for _ in 0..<3 { #expect(band.text("name") == nil) }
                #expect(throws: (any Error).self) { try band.fulfillFault() }
                #expect(throws: (any Error).self) { try context.existingObject(with: band.objectID) }
                // What may pass is asked for again after its time, which a busy machine may need for these lines.
                let passed = ContinuousClock.now - start
                let mayPass = refusal == .failing || refusal == .late
                #expect(service.times(of: Self.refused).count == 1 || mayPass && passed >= .seconds(5))
                service.mend()
                let asked = service.times(of: Self.refused).count
                if isRefreshed {
                    context.refresh(band, mergeChanges: true)
                    expect(band.text("name"), equals: "band 3")
                    expect(service.times(of: Self.refused).count, equals: asked + 1)
                } else {
                    expect(try context.fetch(fetch("Band", by: ["name"])).count, equals: RefusingBands.count)
                    #expect(band.faultError == nil)
                    expect(band.text("name"), equals: "band 3")
                    expect(service.times(of: Self.refused).count, equals: asked)
                }
                #expect(band.faultError == nil)
            }
        }
    }

    @Test("It is logged once, however often it is read, and again where it is refused again after a refresh") func log() async {
        await #expect(processExitsWith: .success) {
            let kept = KeptLines()
            LoggingSystem.bootstrap { _ in KeptLinesHandler(kept: kept) }
            let service = RefusingBands(.forbidden, refused: [FailingDestinationTests.refused])
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = try service.coordinator(together: 1, isCached: false)
            try context.performAndWait {
                let album = try #require(try context.fetch(fetch("Album", "title == 'album 3'")).first)
                let band = try #require(album.value(forKey: "band") as? NSManagedObject)
                func count() -> Int { kept.lines.withLock { $0.filter { $0.contains("could not be read") }.count } }
                for _ in 0..<3 { #expect(band.text("name") == nil) }
                expect(count(), equals: 1)
                context.refresh(band, mergeChanges: false)
                for _ in 0..<3 { #expect(band.text("name") == nil) }
                expect(count(), equals: 2)
            }
        }
    }

    @Test(
        "A time that an answer names is waited for, and then it is asked for again without a refresh", .timeLimit(.minutes(30)),
        arguments: [1, 50], [false, true])
    func named(together: Int, isCached: Bool) async throws {
        let service = RefusingBands(.busy, refused: [Self.refused], wait: 0.3)
        let context = context(try service.coordinator(together: together, isCached: isCached))
        try await context.perform {
            let bands = try bands(context)
            let band = try #require(bands[Self.refused])
            #expect(band.text("name") == nil)
            service.mend()
            while band.text("name") == nil {}
            expect(bands.filter { $0.value.text("name") == "band \($0.key)" }.count, equals: RefusingBands.count)
            #expect(bands.values.allSatisfy { $0.faultError == nil })
        }
        let times = service.times(of: Self.refused)
        expect(times.count, equals: 2)
        #expect(times[1] - times[0] >= .milliseconds(300))
    }
}
