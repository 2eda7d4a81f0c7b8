import CoreData
import Foundation
import JSONReading
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Dates of web services") struct ServiceDateTests {
    private func described(_ form: DateForm) -> WebService {
        WebService(base, resources: [WebResource("Album", properties: ["releaseDate": .at("release", .date(form))])])
    }

    /// Returns the date of a resource, and what is reported of one that cannot be read.
    private func read(_ json: String, _ form: DateForm) throws -> (date: Date?, notes: [String]) {
        let service = ScriptedService { _ in .json(#"[{"id": 1, "release": \#(json)}]"#) }
        let model = Music.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let found = Notes()
        try coordinator.addRemoteStore(
            WebBackend(described(form), model: model, transport: service),
            options: RemoteStoreOptions(didFindUnreadable: { note in found.texts.withLock { $0.append("\(note)") } }))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let date = try context.performAndWait { try context.fetch(fetch("Album")).first?.value(forKey: "releaseDate") as? Date }
        return (date, found.texts.withLock { $0 })
    }

    private final class Notes: Sendable {
        let texts = Mutex<[String]>([])
    }

    @Test(
        "What is no date of the form is an error that says what, where, and what is read",
        arguments: [
            (DateForm.iso8601, ["2026-02-30", "2026-03-01T10:00:00+99:99", "2026-03-01T25:00:00Z", "2026-03-01T10:00:00Z junk", "2026"]),
            (.day, ["2026-02-30", "2026-03-01 junk"]),
            (.http, ["Sun, 30 Feb 2026 10:00:00 GMT", "Sun, 01 Mar 2026 25:00:00 GMT", "Sun, 01 Mar 2026 10:00:00 GMT junk"]),
            (.pattern("yyyy-MM-dd HH:mm xxx"), ["2026-02-30 10:00 +00:00", "2026-03-01 25:00 +00:00", "2026-03-01 10:00 +99:99"]),
            (.secondsSince1970, ["nan", "inf", "0x10", "2026-03-01"]),
        ])
    func refused(form: DateForm, texts: [String]) throws {
        for text in texts {
            let (date, notes) = try read("\"\(text)\"", form)
            expect(date, equals: nil, "\(text)")
            let message = notes.joined()
            #expect(message.contains("“releaseDate” of “Album” cannot hold \"\(text)\"."), "\(message)")
            if case .secondsSince1970 = form { continue }
            #expect(message.contains("is not a date: at character") && message.contains("The description wants"), "\(message)")
        }
    }

    @Test("A random date comes back from the form in which it was sent")
    func roundTrips() throws {
        let seed = TestSeed.current(for: "roundTrips")
        var random = SeededGenerator(seed: seed)
        let forms: [DateForm] = [
            .iso8601, .http, .pattern("EEEE d MMMM yyyy, h:mm:ss a"), .millisecondsSince1970, .secondsSinceReferenceDate,
        ]
        for form in forms {
            for _ in 0..<4 {
                // Since 0001; these forms have other years, and some have no fractions.
                let seconds = Double(Int64.random(in: -63_000_000_000..<252_000_000_000, using: &random)) + (form == .iso8601 ? 0.062_5 : 0)
                let date = Date(timeIntervalSinceReferenceDate: seconds)
                let service = ScriptedService { request in request.method == .get ? .json("[]") : .json(#"{"id": 1}"#, status: 201) }
                let context = try described(form).context(service)
                try context.performAndWait {
                    NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue(date, forKey: "releaseDate")
                    try context.save()
                }
                let sent = try #require(service.requests.last?.json?["release"], "\(form) COREDATA_TEST_SEED=\(seed)")
                try expect(read("\(sent)", form).date, equals: date, "\(form): \(sent), COREDATA_TEST_SEED=\(seed)")
            }
        }
    }

    @Test("A date that the form does not have is not sent")
    func unwritable() throws {
        for (form, seconds) in [
            (DateForm.http, 252_423_993_600.0), (.pattern("yyyy-MM-dd"), -63_145_526_401), (.iso8601, 1e300), (.day, 1e300),
        ] {
            let service = ScriptedService { _ in .json("[]") }
            let context = try described(form).context(service)
            context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue(
                    Date(timeIntervalSinceReferenceDate: seconds), forKey: "releaseDate")
                #expect(throws: NSError.self, "\(form)") { try context.save() }
            }
            #expect(!service.requests.contains { $0.method != .get }, "\(form)")
        }
    }

    @Test("A pattern with a letter that is not read is refused when the description is opened")
    func patterns() throws {
        for pattern in ["YYYY-MM-dd", "yyyy-MM-ddTHH:mm", "", "'open", "yyyy QQQ"] {
            let failure = #expect(throws: NSError.self, "\(pattern)") {
                try described(.pattern(pattern)).context(ScriptedService { _ in .json("[]") })
            }
            #expect("\(failure as Any)".contains("“releaseDate” of “Album”"), "\(failure as Any)")
        }
    }
}
