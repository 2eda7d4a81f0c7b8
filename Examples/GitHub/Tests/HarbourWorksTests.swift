import CoreData
import Foundation
import GitHub
import RemoteStore
import Testing
import WebBackend
import WebTransport

// Testing has types of these names, too.
import class GitHub.Comment
import class GitHub.Issue

@Suite("GitHub as a description, over recorded answers") struct HarbourWorksTests {
    private let recorder: Recorder
    private let context: NSManagedObjectContext

    init() throws { (recorder, context) = try Self.stack() }

    private static func stack(pageSize: Int = 100) throws -> (Recorder, NSManagedObjectContext) {
        let recorder = Recorder(try HarbourWorks.transport())
        return (recorder, try NSManagedObjectContext(gitHub: .gitHub(pageSize: pageSize), transport: recorder))
    }

    /// Returns the repository with the name. Call it on the context's queue.
    private func repository(_ name: String = "tide-tables", in context: NSManagedObjectContext) throws -> Repository {
        try #require(try context.fetch(fetch(Repository.self, "owner.login == 'harbour-works' AND name == %@", name)).first)
    }

    @Test("A repository is found by owner and name in one request, and its owner comes along") func repository() throws {
        try context.performAndWait {
            let found = try repository(in: context)
            #expect(found.name == "tide-tables" && found.starCount == 218)
            #expect(found.owner?.login == "harbour-works")
            #expect(found.owner?.value(forKey: "kind") as? String == "Organization")
            #expect(found.value(forKey: "topics") as? [String] == ["tides", "tables"])
            #expect(found.value(forKey: "createdAt") as? Date == ISO8601DateFormatter().date(from: "2024-05-02T10:00:00Z"))
            #expect(recorder.take() == ["repos/harbour-works/tide-tables"])
            // What only a whole user has is asked for when it is read.
            #expect(found.owner?.value(forKey: "name") as? String == "Harbour Works")
            #expect(recorder.take() == ["users/harbour-works"])
        }
    }

    @Test("A repository that does not exist is not found, without an error") func missing() throws {
        try context.performAndWait {
            let found = try context.fetch(fetch(Repository.self, "owner.login == 'harbour-works' AND name == 'nothing'"))
            #expect(found.isEmpty)
        }
    }

    @Test("The repositories of an owner are one request, and lead to issues with the same numbers in each") func compositeIdentities()
        throws
    {
        try context.performAndWait {
            let owner = try #require(try context.fetch(fetch(User.self, "login == 'harbour-works'")).first)
            let repositories = owner.repositories.sorted { $0.name < $1.name }
            #expect(repositories.map(\.name) == ["lamplight", "tide-tables"])
            let fourth = repositories.map { $0.issues.first { $0.number == 4 } }
            #expect(fourth.map { $0?.title } == ["Lamps of the old pier", "The ebb of Grauhafen is an hour late"])
            #expect(fourth[0]?.repository === repositories[0] && fourth[1]?.repository === repositories[1])
            #expect(
                recorder.take().sorted() == [
                    "repos/harbour-works/lamplight/issues?state=all&per_page=100",
                    "repos/harbour-works/tide-tables/issues?state=all&per_page=100", "users/harbour-works",
                    "users/harbour-works/repos?per_page=100",
                ])
        }
    }

    @Test("An issue has its author and labels in the same answer; comments and events are one request each") func subresources() throws {
        try context.performAndWait {
            let issue = try #require(try repository(in: context).issues.first { $0.number == 4 })
            #expect(issue.author?.login == "ada-brackwater")
            #expect(issue.labels.map(\.name).sorted() == ["bug", "low water"])
            #expect(recorder.take().count == 2)
            let comments = issue.comments.sorted { $0.body < $1.body }
            #expect(comments.map(\.body) == ["In Nebelort, too.", "Only there?"])
            #expect(comments.map { $0.author?.login } == ["ada-brackwater", "jonas-kell"])
            #expect(comments[0].issue === issue)
            #expect(recorder.take() == ["repos/harbour-works/tide-tables/issues/4/comments?per_page=100"])
            let events = issue.events.sorted { time($0) < time($1) }
            #expect(events.map(\.kind) == ["labeled", "labeled", "subscribed"])
            #expect(events.map { $0.value(forKey: "labelName") as? String } == ["bug", "low water", nil])
            #expect(events.map { $0.actor?.login } == ["ada-brackwater", "jonas-kell", "jonas-kell"])
            #expect(recorder.take() == ["repos/harbour-works/tide-tables/issues/4/events?per_page=100"])
        }
    }

    @Test("Pages follow the header Link to addresses of another form") func pages() throws {
        let (recorder, context) = try Self.stack(pageSize: 2)
        try context.performAndWait {
            let repository = try repository(in: context)
            _ = recorder.take()
            #expect(repository.issues.map(\.number).sorted() == [1, 2, 3, 4, 5])
            #expect(
                recorder.take() == [
                    "repos/harbour-works/tide-tables/issues?state=all&per_page=2",
                    "repositories/730001/issues?state=all&per_page=2&page=2", "repositories/730001/issues?state=all&per_page=2&page=3",
                ])
        }
    }

    @Test(
        "Predicates become GitHub's parameters, and the rest is done in memory",
        arguments: [
            ("state == 'open'", "state=open", [2, 4, 5]),
            ("state == 'open' AND ANY labels.name == 'bug'", "state=open", [4]),
            ("author == %@", "state=all&creator=ada-brackwater", [1, 2, 4]),
            ("title CONTAINS 'table' OR pullRequestURL != nil", "state=all", [1, 3, 5]),
        ])
    func predicates(format: String, query: String, numbers: [Int64]) throws {
        try context.performAndWait {
            let repository = try repository(in: context)
            let issue = try #require(repository.issues.first { $0.number == 4 })
            _ = recorder.take()
            let request = fetch(Issue.self, "TRUEPREDICATE", by: "number")
            request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
                NSPredicate(format: "repository == %@", repository),
                NSPredicate(format: format, argumentArray: format.contains("%@") ? [try #require(issue.author)] : []),
            ])
            #expect(try context.fetch(request).map(\.number) == numbers)
            #expect(recorder.take() == ["repos/harbour-works/tide-tables/issues?\(query)&per_page=100"])
        }
    }

    @Test("The newest two are one short page in the service's order") func order() throws {
        try context.performAndWait {
            let repository = try repository(in: context)
            _ = recorder.take()
            let newest = try context.fetch(fetch(Issue.self, "repository == %@", repository, by: "-createdAt", limit: 2))
            #expect(newest.map(\.number) == [5, 4])
            #expect(recorder.take() == ["repos/harbour-works/tide-tables/issues?state=all&sort=created&direction=desc&per_page=2"])
        }
    }

    @Test("Issues and comments are found again by the URI of another run, without their repository") func byURI() throws {
        let uris = try context.performAndWait {
            let issue = try #require(try repository(in: context).issues.first { $0.number == 4 })
            let comment = try #require(issue.comments.first { $0.body == "In Nebelort, too." })
            return [issue, comment].map { $0.objectID.uriRepresentation() }
        }
        let (recorder, second) = try Self.stack()
        try second.performAndWait {
            let coordinator = try #require(second.persistentStoreCoordinator)
            let objects = try uris.map { uri in
                try second.existingObject(with: try #require(coordinator.managedObjectID(forURIRepresentation: uri)))
            }
            #expect((objects[0] as? Issue)?.title == "The ebb of Grauhafen is an hour late")
            #expect((objects[1] as? Comment)?.issue === objects[0])
            #expect((objects[0] as? Issue)?.repository?.owner?.login == "harbour-works")
            #expect(
                recorder.take() == [
                    "repos/harbour-works/tide-tables/issues/4", "repos/harbour-works/tide-tables/issues/comments/940002",
                    "repos/harbour-works/tide-tables",
                ])
        }
    }

    @Test("A fetch that GitHub has no call for says so, and sends nothing") func unanswerable() throws {
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.fetch(fetch(Issue.self, "title == 'x'")) }
            #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
            #expect(recorder.take().isEmpty)
        }
    }
}

/// When an event happened.
private func time(_ event: Event) -> Date { event.value(forKey: "createdAt") as? Date ?? .distantPast }
