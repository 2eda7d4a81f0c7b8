public import CoreData

/// GitHub as an object graph: users, repositories, issues with labels and comments, and what happened to issues.
public enum GitHubModel {
    /// Creates the model, a new one for each call, because a model belongs to the coordinators created with it.
    public static func make() -> NSManagedObjectModel {
        let user = NSEntityDescription(name: "User", managedObjectClass: User.self)
        let repository = NSEntityDescription(name: "Repository", managedObjectClass: Repository.self)
        let issue = NSEntityDescription(name: "Issue", managedObjectClass: Issue.self)
        let label = NSEntityDescription(name: "Label", managedObjectClass: Label.self)
        let comment = NSEntityDescription(name: "Comment", managedObjectClass: Comment.self)
        let event = NSEntityDescription(name: "Event", managedObjectClass: Event.self)

        let repositories = many("repositories", repository)
        let owner = one("owner", user)
        repositories.inverse(to: owner)
        let issues = many("issues", issue)
        let issueRepository = one("repository", repository)
        issues.inverse(to: issueRepository)
        let comments = many("comments", comment)
        let commentIssue = one("issue", issue)
        comments.inverse(to: commentIssue)
        let events = many("events", event)
        let eventIssue = one("issue", issue)
        events.inverse(to: eventIssue)

        user.properties = [text("login"), text("kind"), text("pageURL"), text("name"), repositories]
        repository.properties = [
            text("name"), text("fullName"), text("about"), text("language"), text("defaultBranch"), text("homepage"), flag("isPrivate"),
            flag("isArchived"), number("starCount"), number("openIssueCount"), date("createdAt"), date("updatedAt"), date("pushedAt"),
            NSAttributeDescription(name: "topics", type: .transformable), owner, issues,
        ]
        issue.properties = [
            number("number"), text("title"), text("body"), text("state"), flag("isLocked"), number("commentCount"), date("createdAt"),
            date("updatedAt"), date("closedAt"), text("pullRequestURL"), one("author", user), many("labels", label), issueRepository,
            comments, events,
        ]
        label.properties = [text("name"), text("color"), text("about"), flag("isDefault")]
        comment.properties = [text("body"), date("createdAt"), date("updatedAt"), one("author", user), commentIssue]
        event.properties = [text("kind"), text("labelName"), date("createdAt"), one("actor", user), eventIssue]
        return NSManagedObjectModel(entities: [user, repository, issue, label, comment, event])
    }

    private static func text(_ name: String) -> NSAttributeDescription { NSAttributeDescription(name: name, type: .string) }
    private static func date(_ name: String) -> NSAttributeDescription { NSAttributeDescription(name: name, type: .date) }
    private static func number(_ name: String) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: .integer64, defaultValue: 0)
    }
    private static func flag(_ name: String) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: .boolean, defaultValue: false)
    }
    private static func one(_ name: String, _ destination: NSEntityDescription) -> NSRelationshipDescription {
        NSRelationshipDescription(name: name, destination: destination)
    }
    private static func many(_ name: String, _ destination: NSEntityDescription) -> NSRelationshipDescription {
        NSRelationshipDescription(name: name, destination: destination, toMany: true)
    }
}
