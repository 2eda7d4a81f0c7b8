import CoreData
import ExampleSupport
import Foundation
import GitHub
import RemoteStore
import Testing
import WebBackend
import WebTransport

// Testing has a type of this name, too.
import class GitHub.Issue

@Suite("GitHub's own answers, where they are at hand", .enabled(if: RecordedAnswers.folder != nil)) struct RecordedTests {
    /// An answer with the path that it was recorded for.
    private struct Recorded: Sendable {
        let path: String
        let body: Data
        let link: String?

        /// The resources, as Foundation reads them.
        var resources: [[String: Any]] {
            get throws {
                let json = try JSONSerialization.jsonObject(with: body)
                if let list = json as? [[String: Any]] { return list }
                return [try #require(json as? [String: Any])]
            }
        }
    }

    private static func recorded(_ scenario: String) throws -> [Recorded] {
        let folder = try #require(RecordedAnswers.folder).appendingPathComponent("octokit+fixtures/scenarios/api.github.com/\(scenario)")
        let data = try Data(contentsOf: folder.appendingPathComponent("normalized-fixture.json"))
        let entries = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        return try entries.filter { $0["method"] as? String == "get" }.map { entry in
            Recorded(
                path: try #require(entry["path"] as? String),
                body: try JSONSerialization.data(withJSONObject: try #require(entry["response"])),
                link: (entry["headers"] as? [String: Any])?["link"] as? String)
        }
    }

    private func context(_ answers: [Recorded], pageSize: Int = 100) throws -> NSManagedObjectContext {
        let transport = RecordedAnswers { url in
            // They were recorded without the parameter, when only open issues were wanted.
            let path = url.dropFirst("https://api.github.com".count).replacing("state=all&", with: "")
            return answers.first { $0.path == path }.map { found in
                WebResponse(status: 200, headers: found.link.map { ["Link": $0] } ?? [:], body: Array(found.body))
            }
        }
        return try NSManagedObjectContext(gitHub: .gitHub(pageSize: pageSize), transport: transport)
    }

    @Test("All values of a repository are those that Foundation reads") func repository() throws {
        let answers = try Self.recorded("get-repository")
        let context = try context(answers)
        try context.performAndWait {
            let request = fetch(Repository.self, "owner.login == 'octokit-fixture-org' AND name == 'hello-world'")
            let found = try #require(try context.fetch(request).first)
            let sent = try answers[0].resources[0]
            #expect(
                found.differences(
                    from: sent,
                    at: [
                        "about": "description", "isPrivate": "private", "isArchived": "archived", "starCount": "stargazers_count",
                        "openIssueCount": "open_issues_count", "createdAt": "created_at", "updatedAt": "updated_at",
                        "pushedAt": "pushed_at", "fullName": "full_name", "defaultBranch": "default_branch",
                    ]) == [])
            let owner = try #require(found.owner)
            #expect(owner.differences(from: try #require(sent["owner"] as? [String: Any]), at: user, ignoring: ["name"]) == [])
        }
    }

    @Test("All values of issues on five pages are those that Foundation reads") func issues() throws {
        let answers = try Self.recorded("paginate-issues")
        let sent = try answers.flatMap { try $0.resources }
        // The repository itself was recorded elsewhere, under another name.
        let elsewhere = try Self.recorded("get-repository")[0]
        let body = String(decoding: elsewhere.body, as: UTF8.self).replacing("hello-world", with: "paginate-issues")
        let repository = Recorded(path: "/repos/octokit-fixture-org/paginate-issues", body: Data(body.utf8), link: nil)
        let context = try self.context(answers + [repository], pageSize: 3)
        try context.performAndWait {
            let owner = fetch(Repository.self, "owner.login == 'octokit-fixture-org' AND name == 'paginate-issues'")
            let repository = try #require(try context.fetch(owner).first)
            let found = try context.fetch(fetch(Issue.self, "repository == %@", repository, by: "-number"))
            #expect(found.map(\.number) == sent.compactMap { $0["number"] as? Int64 ?? ($0["number"] as? Int).map(Int64.init) })
            #expect(found.count == 13)
            for (issue, json) in zip(found, sent) {
                #expect(
                    issue.differences(
                        from: json,
                        at: [
                            "isLocked": "locked", "commentCount": "comments", "createdAt": "created_at", "updatedAt": "updated_at",
                            "closedAt": "closed_at", "pullRequestURL": "pull_request.url",
                        ]) == [])
                let author = try #require(issue.author)
                #expect(author.differences(from: try #require(json["user"] as? [String: Any]), at: user, ignoring: ["name"]) == [])
                #expect(issue.labels.count == (json["labels"] as? [Any])?.count)
            }
        }
    }

    private let user = ["kind": "type", "pageURL": "html_url"]
}
