public import CoreData

/// A user, or an organization.
public final class User: NSManagedObject {
    private static let loginProperty = ManagedProperty<String>("login")
    private static let repositoriesProperty = ManagedProperty<Set<Repository>>("repositories")
    /// The name by which GitHub knows the user.
    public var login: String { self[Self.loginProperty] }
    /// The public repositories. The first read sends requests, one for each page.
    public var repositories: Set<Repository> { self[Self.repositoriesProperty] }
}

/// A repository, known by its owner and its name.
public final class Repository: NSManagedObject {
    private static let nameProperty = ManagedProperty<String>("name")
    private static let starCountProperty = ManagedProperty<Int64>("starCount")
    private static let ownerProperty = ManagedProperty<User?>("owner")
    private static let issuesProperty = ManagedProperty<Set<Issue>>("issues")
    /// The name within those of the owner.
    public var name: String { self[Self.nameProperty] }
    /// The number of stars.
    public var starCount: Int64 { self[Self.starCountProperty] }
    /// The owner, who comes along with every repository.
    public var owner: User? { self[Self.ownerProperty] }
    /// The issues, open and closed, and pull requests. The first read sends requests, one for each page.
    public var issues: Set<Issue> { self[Self.issuesProperty] }
}

/// An issue, known by its repository and its number. Pull requests are issues too.
public final class Issue: NSManagedObject {
    private static let numberProperty = ManagedProperty<Int64>("number")
    private static let titleProperty = ManagedProperty<String>("title")
    private static let stateProperty = ManagedProperty<String>("state")
    private static let authorProperty = ManagedProperty<User?>("author")
    private static let repositoryProperty = ManagedProperty<Repository?>("repository")
    private static let labelsProperty = ManagedProperty<Set<Label>>("labels")
    private static let commentsProperty = ManagedProperty<Set<Comment>>("comments")
    private static let eventsProperty = ManagedProperty<Set<Event>>("events")
    /// The number within the repository.
    public var number: Int64 { self[Self.numberProperty] }
    /// The title.
    public var title: String { self[Self.titleProperty] }
    /// `open` or `closed`.
    public var state: String { self[Self.stateProperty] }
    /// Who has opened it, who comes along with every issue.
    public var author: User? { self[Self.authorProperty] }
    /// The repository, which is known from the issue's address.
    public var repository: Repository? { self[Self.repositoryProperty] }
    /// The labels, which come along with every issue.
    public var labels: Set<Label> { self[Self.labelsProperty] }
    /// The comments. The first read sends a request.
    public var comments: Set<Comment> { self[Self.commentsProperty] }
    /// What happened to it. The first read sends a request.
    public var events: Set<Event> { self[Self.eventsProperty] }
}

/// A label of issues.
public final class Label: NSManagedObject {
    private static let nameProperty = ManagedProperty<String>("name")
    /// The name.
    public var name: String { self[Self.nameProperty] }
}

/// A comment on an issue.
public final class Comment: NSManagedObject {
    private static let bodyProperty = ManagedProperty<String>("body")
    private static let authorProperty = ManagedProperty<User?>("author")
    private static let issueProperty = ManagedProperty<Issue?>("issue")
    /// The text.
    public var body: String { self[Self.bodyProperty] }
    /// Who has written it.
    public var author: User? { self[Self.authorProperty] }
    /// The issue.
    public var issue: Issue? { self[Self.issueProperty] }
}

/// Something that happened to an issue.
public final class Event: NSManagedObject {
    private static let kindProperty = ManagedProperty<String>("kind")
    private static let actorProperty = ManagedProperty<User?>("actor")
    private static let issueProperty = ManagedProperty<Issue?>("issue")
    /// What happened: `labeled`, `closed`, `assigned` and so on.
    public var kind: String { self[Self.kindProperty] }
    /// Who did it.
    public var actor: User? { self[Self.actorProperty] }
    /// The issue.
    public var issue: Issue? { self[Self.issueProperty] }
}
