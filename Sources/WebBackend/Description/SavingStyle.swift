public import RemoteStore
public import WebTransport

/// How changes are saved.
public struct SavingStyle: Hashable, Sendable {
    /// A request that saves one change.
    public struct Action: Hashable, Sendable {
        /// The method.
        public var method: WebRequest.Method
        /// The path after the service's address. `{path}` is the resource's, `{SELF}` the identifier; other names in braces are values.
        public var path: String
        /// Parameters that are always sent.
        public var query: [String: String]
        /// What its answers have; nil as ``SavingStyle/answer`` says.
        public var answer: Answer?

        /// Creates an action.
        public init(_ method: WebRequest.Method, _ path: String, query: [String: String] = [:], answer: Answer? = nil) {
            self.method = method
            self.path = path
            self.query = query
            self.answer = answer
        }
    }

    /// What an answer to a new or changed resource has, and where. It may have another shape than a list or a resource that is read.
    ///
    /// An answer that has something else is an error which names both, and the change stays what it is: accepted. An answer without a body, to a change
    /// of a resource that is known, says nothing.
    public enum Answer: Hashable, Sendable {
        /// The resource at a path, as it is read: `data`, `[0]` for the first one of a list, empty for the whole body.
        case resource(JSONPath)
        /// At a path, only what the service has assigned or changed: what is missing is as it was sent.
        case assigned(JSONPath)
        /// The address of the resource in the header `Location`, and nothing else. The identifier is what the address has in the place of `{SELF}`:
        /// `books/{SELF}`, `?id=eq.{SELF}`; nil for the last part of the path. Digits are a number, unless ``WebResource/identifier`` or the attribute
        /// with the identifier says otherwise. What the service has computed is read with the next refresh.
        case location(String?)
        /// Nothing that matters: the body is not read.
        case nothing
    }

    /// Where the identifiers of new resources come from.
    public enum Identity: Hashable, Sendable {
        /// The service assigns them, and has them in its answer.
        case assignedByService
        /// The value of an attribute.
        case attribute(String)
        /// A new UUID. It stands where the request has `{SELF}`, otherwise in the resource, at the place of its identity.
        case newUUID
    }

    /// How the service is told which version a change is made to.
    public enum Precondition: Hashable, Sendable {
        /// Not at all: the last change wins, or the store reads before it saves.
        case none
        /// By the header `If-Match` with the version: in quotation marks where it is a number or a strong tag, a weak tag as it was issued.
        ///
        /// No change goes out without one. A resource whose version is not known, because it came by a list, is read by the call for one and compared
        /// with what the change was made on.
        case ifMatch
        /// By the version in the resource, at the path it was read from.
        ///
        /// A request that deletes has no resource: CouchDB's `_rev` (or `rev`) is its parameter `rev`, and any other version is compared with that of the
        /// resource, which is read before.
        case field
    }

    /// How several changes are sent by one request.
    public enum Batch: Hashable, Sendable {
        /// As a list of requests at an address, each with method, path, headers and body; the answer has a list of their answers.
        case requests(BatchRequests)
        /// As a list of resources, of which the deleted ones are marked: CouchDB's `_bulk_docs`. What stands in headers of a request for one, it does not have.
        case documents(path: String, list: String, deleted: String)
    }

    /// The keys of a list of requests.
    public struct BatchRequests: Hashable, Sendable {
        /// The path after the service's address, which may lead out of it: `../../batch`.
        public var path: String
        /// The key of the list; empty where the body is the list.
        public var list: String
        /// The path to the list of answers.
        public var answers: JSONPath
        /// The number of requests.
        public var maximum: Int
        /// The key of the answer's status; nil where a key tells of success and another of failure.
        public var status: String?
        /// The key of the answer's body, or of a success.
        public var body: String
        /// The key of a failure; nil where the status tells.
        public var error: String?
        /// Whether paths include the path of the service's address: `/v1/buckets/…`.
        public var hasWholePaths: Bool
        /// Whether all succeed or none.
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

    /// How new resources are saved; nil for not at all.
    public var create: Action?
    /// How new resources with an identifier are saved; nil as those without.
    public var createIdentified: Action?
    /// How changes are saved; nil for not at all.
    public var update: Action?
    /// How resources are deleted; nil for not at all.
    public var delete: Action?
    /// Where identifiers come from.
    public var identity: Identity
    /// Whether an update has the whole resource. It is read before, and sent back with what the program has changed, property by property.
    public var replacesWholeResources: Bool
    /// How the service is told which version a change is made to.
    public var precondition: Precondition
    /// Who notices changes of others where there is no precondition.
    public var conflicts: Resource.Saving.ConflictDetection
    /// The path to the resource in a request's body.
    public var item: JSONPath
    /// What a request's body has besides, as JSON at paths: `["data.type": "\"{type}\""]`. One with `{SELF}` is left out for a new
    /// resource without an identifier.
    public var constants: [String: String]
    /// The body of a value that is taken away: null unless this is set, such as `{"__op": "Delete"}`.
    public var removal: String?
    /// The header with the key by which a repeated request is recognised; nil where there is none.
    public var idempotencyHeader: String?
    /// For how long the service knows such a key, in seconds from its first use; nil for as long as anyone may send it. The service's manual has it:
    /// many forget keys after 24 hours.
    public var keyLifetime: Double?
    /// How several changes are sent by one request; nil for not at all.
    public var batch: Batch?
    /// Whether new resources that exist are refused by the header `If-None-Match: *`.
    public var createsIfNoneMatch: Bool
    /// Whether a list that is deleted by its filters is a bulk deletion.
    public var deletesLists: Bool
    /// The path to the current resource in the body of a refused precondition; nil where it must be read.
    public var current: JSONPath?
    /// The paths to identifier and version in answers that have nothing else; nil where they are as in resources.
    public var receipt: Receipt?
    /// What answers to new and changed resources have, unless an action says otherwise. Nil for the resource, or a part of it, where the request has it
    /// (``item``), otherwise as the whole body.
    public var answer: Answer?

    /// Where answers to saves have what the service has assigned.
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

    /// Creates a style of saving: `POST` to the collection, `PATCH` and `DELETE` of a resource.
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

/// How errors are written in answers.
public struct ErrorStyle: Hashable, Sendable {
    /// The paths to a message, the first of which counts.
    ///
    /// In an answer of the status 200 that is no resource, a message at a path other than the usual ones refuses the change, unless a read shows that it was
    /// made.
    public var messages: [JSONPath]
    /// The path to a list of errors; nil for none.
    public var list: JSONPath?
    /// The path to the name or pointer of the property, within an error of the list.
    public var pointer: JSONPath?
    /// The path to the message, within an error of the list.
    public var detail: JSONPath
    /// Whether keys of the body are names of properties, and their values lists of messages.
    public var isByField: Bool
    /// The path to a value that answers of the status 200 have where they are errors, such as `error`; nil where there are no such answers.
    /// Null and false are no errors.
    public var flag: JSONPath?
    /// What messages of answers with the ``flag`` begin with where there is no such resource, as the status 404 says elsewhere.
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

/// How a service tells what has changed.
public enum ChangeFeedStyle: Hashable, Sendable {
    /// Each collection is asked for what is newer than a version, with removed resources marked by a field: Kinto's `_since`.
    case since(parameter: String, token: AnswerPart, deleted: JSONPath)
    /// One feed for all, by a token: CouchDB's `_changes`.
    case couchDB(path: String)
}

/// How a service says at once that something has changed: its feed of changes is asked then.
public enum ChangeSignalStyle: Hashable, Sendable {
    /// Server-sent events (`text/event-stream`) at a path.
    ///
    /// - Parameters:
    ///   - path: The path behind the address of the service, with parameters where there are some.
    ///   - names: The names of the events that tell of changes; empty for any.
    ///   - idleSeconds: The time without a byte after which another connection is made. Services send something while nothing happens, often each
    ///   15 or 30 seconds.
    case serverSentEvents(path: String, names: [String] = [], idleSeconds: Double = 120)
}
