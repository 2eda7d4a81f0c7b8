internal import Foundation
internal import RemoteStore
public import WebBackend

extension WebService {
    /// GitHub's REST API as a description: users, repositories, issues with their labels and comments, and what happened to issues.
    ///
    /// - Parameters:
    ///   - address: The address of the API.
    ///   - pageSize: The number of resources of a page, 100 at most.
    public static func gitHub(at address: String = "https://api.github.com", pageSize: Int = 100) -> WebService {
        var style = ServiceStyle.gitHub
        style.paging.size = pageSize
        style.omitsNil = true
        style.saving = nil
        let repository = "repos/{repository.0}/{repository.1}"
        let issue = "repos/{issue.0}/{issue.1}/issues/{issue.2}"
        return WebService(
            address, style: style,
            resources: [
                WebResource(
                    "User", identity: ["login"], properties: ["kind": "type", "pageURL": "html_url"], calls: [.one("users/{SELF}")]),
                WebResource(
                    "Repository", identity: ["owner.login", "name"],
                    properties: [
                        "about": "description", "isPrivate": "private", "isArchived": "archived", "starCount": "stargazers_count",
                        "openIssueCount": "open_issues_count", "createdAt": PropertyMapping(path: "created_at", queryName: "created"),
                        "updatedAt": PropertyMapping(path: "updated_at", queryName: "updated"),
                        "pushedAt": PropertyMapping(path: "pushed_at", queryName: "pushed"),
                    ],
                    calls: [
                        .one("repos/{SELF.0}/{SELF.1}"), .one("repos/{owner.login}/{name}", name: "named"),
                        .list("users/{owner}/repos", name: "ofOwner", filters: [], sorting: ["createdAt", "updatedAt", "pushedAt"]),
                    ]),
                WebResource(
                    "Issue", identity: ["@repository.0", "@repository.1", "number"],
                    properties: [
                        "isLocked": "locked", "commentCount": .init(path: "comments"), "author": "user", "labels": "labels",
                        "pullRequestURL": "pull_request.url",
                        "createdAt": PropertyMapping(path: "created_at", queryName: "created"),
                        "updatedAt": PropertyMapping(path: "updated_at", queryName: "updated"),
                        "repository": PropertyMapping(path: "repository_url", reference: .link(template: "repos/{SELF.0}/{SELF.1}")),
                    ],
                    calls: [
                        .one("repos/{SELF.0}/{SELF.1}/issues/{SELF.2}"),
                        // Only open ones come unless others are asked for.
                        issues("all", repository + "/issues", ["state": "all"]),
                        issues("inState", repository + "/issues", ["state": "{state}"], rows: 200),
                    ]),
                WebResource("Label", properties: ["about": "description", "isDefault": "default"], calls: []),
                WebResource(
                    "Comment", identity: ["@issue.0", "@issue.1", "id"],
                    properties: [
                        "author": "user",
                        "issue": PropertyMapping(path: "issue_url", reference: .link(template: "repos/{SELF.0}/{SELF.1}/issues/{SELF.2}")),
                    ],
                    calls: [
                        .list(issue + "/comments", name: "ofIssue", filters: [], sorting: []),
                        .one("repos/{SELF.0}/{SELF.1}/issues/comments/{SELF.2}"),
                    ]),
                WebResource(
                    "Event", identity: ["@issue.0", "@issue.1", "id"], properties: ["kind": "event", "labelName": "label.name"],
                    calls: [
                        .list(issue + "/events", name: "ofIssue", filters: [], sorting: []),
                        .one("repos/{SELF.0}/{SELF.1}/issues/events/{SELF.2}"),
                    ]),
            ])
    }

    /// A list of issues with the parameters that GitHub has for it.
    private static func issues(_ name: String, _ path: String, _ query: [String: String], rows: Int = 1000) -> WebCall {
        WebCall(
            name, path: path, query: query,
            parameters: [
                WebParameter("author", "author.login", templates: [.equal: "creator={value}"]),
                WebParameter("updatedAt", templates: [.greaterThanOrEqual: "since={value}"]),
            ], filters: [], sorting: ["createdAt", "updatedAt", "commentCount"], cost: .init(expectedRows: rows))
    }
}
