public import RemoteStore
public import WebTransport

/// How changes are saved.
public struct SavingStyle: Hashable, Sendable {
    /// A request that saves one change.
    public struct Action: Hashable, Sendable {
        /// The method.
        public var method: WebRequest.Method
        /// The path after the service's address. `{path}` stands for the resource's path, `{SELF}` for the identifier, and other names in braces for
        /// values.
        public var path: String
        /// Parameters that are always sent.
        public var query: [String: String]
        /// The content of its answers; nil for ``SavingStyle/answer``.
        public var answer: Answer?

        /// Creates an action.
        public init(_ method: WebRequest.Method, _ path: String, query: [String: String] = [:], answer: Answer? = nil) {
            self.method = method
            self.path = path
            self.query = query
            self.answer = answer
        }
    }

    /// The content of an answer to a new or changed resource, and its place. It may have another shape than a list or a resource that is read.
    ///
    /// An answer with other content is an error that names both, and the change stays accepted. An answer without a body, to a change of a known
    /// resource, says nothing.
    public enum Answer: Hashable, Sendable {
        /// The resource at a path, as it is read: `data`, `[0]` for the first one of a list, empty for the whole body.
        case resource(JSONPath)
        /// At a path, only the values that the service has assigned or changed. Missing values are as they were sent.
        case assigned(JSONPath)
        /// The address of the resource in the header `Location`, and nothing else. The identifier is the text in the place of `{SELF}` in the template:
        /// `books/{SELF}`, `?id=eq.{SELF}`; without a template, the last part of the path. An identifier of digits is a number, unless
        /// ``WebResource/identifier`` or the attribute with the identifier says otherwise. Values that the service has computed are read with the next
        /// refresh.
        case location(String?)
        /// No content that matters: the body is not read.
        case nothing
    }

    /// The origin of the identifiers of new resources.
    public enum Identity: Hashable, Sendable {
        /// The service assigns them, and returns them in its answer.
        case assignedByService
        /// The value of an attribute.
        case attribute(String)
        /// A new UUID. It replaces `{SELF}` in the request; without that, it is in the resource, at the place of its identity.
        case newUUID
    }

    /// The way in which the service is told the version that a change is based on.
    public enum Precondition: Hashable, Sendable {
        /// Not at all: the last change wins, or the store reads before it saves.
        case none
        /// By the header `If-Match` with the version: a number or a strong tag in quotation marks, a weak tag as it was issued.
        ///
        /// No change is sent without this header. If the version of a resource is not known, because it came in a list, the resource is read by the
        /// call for one, and compared with the base of the change.
        case ifMatch
        /// By the version in the resource, at the path where it was read.
        ///
        /// A request that deletes has no resource: CouchDB's `_rev` (or `rev`) is sent as the parameter `rev`. Any other version is compared with that
        /// of the resource, which is read first.
        case field
    }

    /// The way in which several changes are sent in one request.
    public enum Batch: Hashable, Sendable {
        /// As a list of requests at an address, each with method, path, headers and body; the answer has a list of their answers.
        case requests(BatchRequests)
        /// As a list of resources, with marks on the deleted ones: CouchDB's `_bulk_docs`. It has nothing of what a single request has in its headers.
        case documents(path: String, list: String, deleted: String)
    }

    /// The keys of a list of requests.
    public struct BatchRequests: Hashable, Sendable {
        /// The path after the service's address; it may lead out of that: `../../batch`.
        public var path: String
        /// The key of the list; empty if the body is the list.
        public var list: String
        /// The path to the list of answers.
        public var answers: JSONPath
        /// The maximum number of requests.
        public var maximum: Int
        /// The key of the answer's status; nil if one key tells of success and another of failure.
        public var status: String?
        /// The key of the answer's body, or of a success.
        public var body: String
        /// The key of a failure; nil if the status tells.
        public var error: String?
        /// Whether paths include the path of the service's address: `/v1/buckets/…`.
        public var hasWholePaths: Bool
        /// Whether either all requests succeed or none does.
        public var isAtomic: Bool

        /// Creates the keys.
        public init(
            path: String, list: String = "requests", answers: JSONPath = "responses", maximum: Int = 25, status: String? = "status",
            body: String = "body", error: String? = nil, hasWholePaths: Bool = true, isAtomic: Bool = false
        ) {
            self.path = path
            self.list = list
            self.answers = answers
            self.maximum = maximum
            self.status = status
            self.body = body
            self.error = error
            self.hasWholePaths = hasWholePaths
            self.isAtomic = isAtomic
        }
    }

    /// The request for new resources; nil if none can be created.
    public var create: Action?
    /// The request for new resources with an identifier; nil for ``create``.
    public var createIdentified: Action?
    /// The request for changes; nil if none can be made.
    public var update: Action?
    /// The request for deletions; nil if none can be made.
    public var delete: Action?
    /// The origin of identifiers.
    public var identity: Identity
    /// Whether an update sends the whole resource. The resource is read first, and sent back with the properties that the program has changed.
    public var replacesWholeResources: Bool
    /// The way in which the service is told the version that a change is based on.
    public var precondition: Precondition
    /// The party that detects conflicts with the changes of other clients if there is no precondition.
    public var conflicts: Resource.Saving.ConflictDetection
    /// The path to the resource in a request's body.
    public var item: JSONPath
    /// Further parts of a request's body, as JSON at paths: `["data.type": "\"{type}\""]`. A part with `{SELF}` is left out for a new resource without
    /// an identifier.
    public var constants: [String: String]
    /// The body of a value that is removed, such as `{"__op": "Delete"}`; nil for null.
    public var removal: String?
    /// The header with the idempotency key, by which the service recognises a repeated request; nil if there is none.
    public var idempotencyHeader: String?
    /// The time for which the service knows an idempotency key, in seconds from its first use; nil for no limit. The service's manual states it: many
    /// services forget keys after 24 hours.
    public var keyLifetime: Double?
    /// The way in which several changes are sent in one request; nil for one request for each.
    public var batch: Batch?
    /// Whether new resources are sent with the header `If-None-Match: *`, which refuses them if they exist.
    public var createsIfNoneMatch: Bool
    /// Whether the call of a list can be used to delete what its filters find, as a bulk deletion.
    public var deletesLists: Bool
    /// The path to the current resource in the body of an answer that refuses a precondition; nil if the resource must be read.
    public var current: JSONPath?
    /// The paths to identifier and version in answers that have nothing else; nil if they are as in resources.
    public var receipt: Receipt?
    /// The content of answers to new and changed resources, unless an action says otherwise. Nil for the resource, or a part of it, at the same path as
    /// in the request (``item``), or as the whole body.
    public var answer: Answer?

    /// The places of the values that the service assigns, in answers to saves.
    public struct Receipt: Hashable, Sendable {
        /// The path to the identifier.
        public var id: JSONPath
        /// The path to the version.
        public var version: JSONPath

        /// Creates the paths.
        public init(id: JSONPath, version: JSONPath) {
            self.id = id
            self.version = version
        }
    }

    /// Creates a style of saving: `POST` to the collection, `PATCH` and `DELETE` to a resource.
    public init(
        create: Action? = Action(.post, "{path}"), createIdentified: Action? = nil, update: Action? = Action(.patch, "{path}/{SELF}"),
        delete: Action? = Action(.delete, "{path}/{SELF}"), identity: Identity = .assignedByService, replacesWholeResources: Bool = false,
        precondition: Precondition = .none, conflicts: Resource.Saving.ConflictDetection = .byReading, item: JSONPath = "",
        constants: [String: String] = [:], removal: String? = nil, idempotencyHeader: String? = nil, keyLifetime: Double? = nil,
        batch: Batch? = nil,
        createsIfNoneMatch: Bool = false, deletesLists: Bool = false, current: JSONPath? = nil,
        receipt: Receipt? = nil, answer: Answer? = nil
    ) {
        self.create = create
        self.createIdentified = createIdentified
        self.update = update
        self.delete = delete
        self.identity = identity
        self.replacesWholeResources = replacesWholeResources
        self.precondition = precondition
        self.conflicts = conflicts
        self.item = item
        self.constants = constants
        self.removal = removal
        self.idempotencyHeader = idempotencyHeader
        self.keyLifetime = keyLifetime
        self.batch = batch
        self.createsIfNoneMatch = createsIfNoneMatch
        self.deletesLists = deletesLists
        self.current = current
        self.receipt = receipt
        self.answer = answer
    }
}

/// The form of errors in answers.
public struct ErrorStyle: Hashable, Sendable {
    /// The paths to a message. The first path that has one counts.
    ///
    /// In an answer with the status 200 that is not a resource, a message at a path other than the usual ones means that the change was refused, unless
    /// a read shows that it was made.
    public var messages: [JSONPath]
    /// The path to a list of errors; nil for none.
    public var list: JSONPath?
    /// The path to the name or pointer of the property, within an error of the list.
    public var pointer: JSONPath?
    /// The path to the message, within an error of the list.
    public var detail: JSONPath
    /// Whether the keys of the body are names of properties, with lists of messages as their values.
    public var isByField: Bool
    /// The path to a value that marks an answer with the status 200 as an error, such as `error`; nil if there are no such answers. Null and false mark
    /// no error.
    public var flag: JSONPath?
    /// The beginnings of messages, in answers with the ``flag``, that mean what the status 404 means elsewhere: there is no such resource.
    public var missing: [String] = []

    /// Creates a style of errors.
    public init(
        messages: [JSONPath] = ["message", "error.message", "error", "detail"], list: JSONPath? = nil, pointer: JSONPath? = nil,
        detail: JSONPath = "detail", isByField: Bool = false, flag: JSONPath? = nil, missing: [String] = []
    ) {
        self.messages = messages
        self.list = list
        self.pointer = pointer
        self.detail = detail
        self.isByField = isByField
        self.flag = flag
        self.missing = missing
    }
}

/// The way in which a service reports its changes.
public enum ChangeFeedStyle: Hashable, Sendable {
    /// A request for each collection asks for resources newer than a version. A field marks removed resources: Kinto's `_since`.
    case since(parameter: String, token: AnswerPart, deleted: JSONPath)
    /// One feed for all, by a token: CouchDB's `_changes`.
    case couchDB(path: String)
}

/// The way in which a service signals that something has changed. The feed of changes is then requested.
public enum ChangeSignalStyle: Hashable, Sendable {
    /// Server-sent events (`text/event-stream`) at a path.
    ///
    /// - Parameters:
    ///   - path: The path after the address of the service, with parameters if there are any.
    ///   - names: The names of the events that signal changes; empty for any.
    ///   - idleSeconds: The time without a byte after which a new connection is made. While nothing happens, services send something, often every 15 or
    ///     30 seconds.
    case serverSentEvents(path: String, names: [String] = [], idleSeconds: Double = 120)
}
