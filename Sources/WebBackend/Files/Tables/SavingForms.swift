internal import JSONReading
internal import RemoteStore
internal import WebTransport

extension FileForms {
    /// The method of a request.
    static let method = plain(
        "a method such as GET", ["type": "string", "pattern": "^[A-Za-z]+$"],
        { value in value.string.flatMap { isMethod($0[...]) ? WebRequest.Method(rawValue: $0) : nil } },
        { (method: WebRequest.Method) in isMethod(method.rawValue[...]) ? .string(method.rawValue) : nil }, accepts: { $0.string != nil })

    private static func isMethod(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (65...90).contains($0) || (97...122).contains($0) }
    }

    /// `PATCH {path}/{SELF}`
    private static let actionText = plain(
        "a method and a path, such as PATCH {path}/{SELF}", ["type": "string", "pattern": "^[A-Za-z]+( |$)"],
        { value -> SavingStyle.Action? in
            guard let text = value.string else { return nil }
            let method = text.prefix { $0 != " " }
            return isMethod(method) ? .init(.init(rawValue: String(method)), String(text.dropFirst(method.count + 1))) : nil
        },
        { action in
            guard action.query.isEmpty, action.answer == nil, isMethod(action.method.rawValue[...]) else { return nil }
            return .string(action.path.isEmpty ? action.method.rawValue : action.method.rawValue + " " + action.path)
        }, accepts: { $0.string != nil })

    /// A request that saves one change.
    static let action = FileForm<SavingStyle.Action>.either(
        actionText,
        .object("action", .init("", "")) { keys in
            keys.key("method", \.method, method, isRequired: true, "The method.")
            keys.key("path", \.path, text, isRequired: true, "The path after the service's address.")
            keys.key("query", \.query, publicValues(isHeader: false), "Parameters that are always sent.")
            keys.optional("answer", \.answer, answer, "What its answers have.")
        })

    /// The content of answers to new and changed resources: `resource:data`, `location`, `nothing`.
    private static let answer = FileForm<SavingStyle.Answer>.choice(
        "answer to a save",
        [
            .key("resource", path, "The resource at a path, as it is read.", isText: true, make: { .resource($0) }) {
                if case .resource(let path) = $0 { path } else { nil }
            },
            .key("assigned", path, "At a path, only what the service has assigned or changed.", isText: true, make: { .assigned($0) }) {
                if case .assigned(let path) = $0 { path } else { nil }
            },
            .word("location", .location(nil), "The address in the header Location, whose path ends with the identifier."),
            .key(
                "location", text, "The address in the header Location, with {SELF} for the identifier.", isText: true,
                make: { .location($0) }
            ) { if case .location(let template?) = $0 { template } else { nil } },
            .word("nothing", .nothing, "Nothing that matters."),
        ]
    ).named("answer")

    private static let newIdentity = FileForm<SavingStyle.Identity>.choice(
        "source of identifiers",
        [
            .word("assignedByService", .assignedByService, "The service assigns them."), .word("newUUID", .newUUID, "A new UUID."),
            .key("attribute", text, "The value of an attribute.", isText: true, make: { .attribute($0) }) {
                if case .attribute(let name) = $0 { name } else { nil }
            },
        ])

    private static let preconditions = words(
        "precondition", [("none", SavingStyle.Precondition.none), ("ifMatch", .ifMatch), ("field", .field)])
    private static let conflicts = words(
        "way to notice conflicts",
        [("backend", Resource.Saving.ConflictDetection.backend), ("byReading", .byReading), ("none", .none)])

    private static let batchRequests = FileForm<SavingStyle.BatchRequests>.object("batchRequests", .init(path: "")) { keys in
        keys.key("path", \.path, text, isRequired: true, "The path after the service's address.")
        keys.key("list", \.list, text, "The key of the list; empty where the body is the list.")
        keys.key("answers", \.answers, path, "The path to the list of answers.")
        keys.key("maximum", \.maximum, integer(from: 1), "The number of requests.")
        keys.optional("status", \.status, text, "The key of the answer's status.")
        keys.key("body", \.body, text, "The key of the answer's body, or of a success.")
        keys.optional("error", \.error, text, "The key of a failure.")
        keys.key("wholePaths", \.hasWholePaths, flag, "Whether paths include the path of the service's address.")
        keys.key("atomic", \.isAtomic, flag, "Whether all succeed or none.")
    }

    /// The parts of a batch of documents.
    private struct Documents: Hashable, Sendable {
        var path = ""
        var list = ""
        var deleted = ""
    }

    private static let documents = FileForm<Documents>.object("batchDocuments", Documents()) { keys in
        keys.key("path", \.path, text, isRequired: true, "The path after the service's address.")
        keys.key("list", \.list, text, isRequired: true, "The key of the list.")
        keys.key("deleted", \.deleted, text, isRequired: true, "The key that marks deleted resources.")
    }

    private static let batch = FileForm<SavingStyle.Batch>.choice(
        "form of batches",
        [
            .key("requests", batchRequests, "A list of requests.", make: { .requests($0) }) {
                if case .requests(let requests) = $0 { requests } else { nil }
            },
            .key(
                "documents", documents, "A list of resources, of which the deleted ones are marked.",
                make: { .documents(path: $0.path, list: $0.list, deleted: $0.deleted) }
            ) {
                if case .documents(let path, let list, let deleted) = $0 {
                    Documents(path: path, list: list, deleted: deleted)
                } else {
                    nil
                }
            },
        ])

    private static let receipt = FileForm<SavingStyle.Receipt>.object("receipt", .init(id: "", version: "")) { keys in
        keys.key("id", \.id, path, isRequired: true, "The path to the identifier.")
        keys.key("version", \.version, path, isRequired: true, "The path to the version.")
    }

    /// The way in which changes are saved.
    static let saving = FileForm<SavingStyle>.object("saving", SavingStyle()) { keys in
        keys.optional("create", \.create, action, none: "none", "How new resources are saved: POST {path}.")
        keys.optional("createIdentified", \.createIdentified, action, none: "none", "How new resources with an identifier are saved.")
        keys.optional("update", \.update, action, none: "none", "How changes are saved: PATCH {path}/{SELF}.")
        keys.optional("delete", \.delete, action, none: "none", "How resources are deleted: DELETE {path}/{SELF}.")
        keys.key("identity", \.identity, newIdentity, "Where identifiers of new resources come from.")
        keys.key("replacesWholeResources", \.replacesWholeResources, flag, "Whether an update has the whole resource.")
        keys.key("precondition", \.precondition, preconditions, "How the service is told which version a change is made to.")
        keys.key("conflicts", \.conflicts, conflicts, "Who notices changes of others where there is no precondition.")
        keys.key("item", \.item, path, "The path to the resource in a request's body.")
        keys.key("constants", \.constants, map(json), "What a request's body has besides, at paths.")
        keys.optional("removal", \.removal, json, "The body of a value that is taken away.")
        keys.optional("idempotencyHeader", \.idempotencyHeader, text, "The header by which a repeated request is recognised.")
        keys.optional("keyLifetime", \.keyLifetime, seconds, "For how long the service recognises it, in seconds.")
        keys.optional("batch", \.batch, batch, none: "none", "How several changes are sent by one request.")
        keys.key("createsIfNoneMatch", \.createsIfNoneMatch, flag, "Whether If-None-Match: * refuses new resources that exist.")
        keys.key("deletesLists", \.deletesLists, flag, "Whether a list that is deleted by its filters is a bulk deletion.")
        keys.optional("current", \.current, path, "The path to the current resource in the body of a refused precondition.")
        keys.optional("receipt", \.receipt, receipt, none: "none", "Where answers to saves have what the service has assigned.")
        keys.optional("answer", \.answer, answer, "What answers to new and changed resources have: resource:data, location, nothing.")
    }

    /// The form of errors in answers.
    static let errors = FileForm<ErrorStyle>.object("errors", ErrorStyle()) { keys in
        keys.key("messages", \.messages, list(path), "The paths to a message, the first of which counts.")
        keys.optional("list", \.list, path, "The path to a list of errors.")
        keys.optional("pointer", \.pointer, path, "The path to the name or pointer of the property, within an error.")
        keys.key("detail", \.detail, path, "The path to the message, within an error.")
        keys.optional("flag", \.flag, path, "The path to what says that an answer of success is an error.")
        keys.key("missing", \.missing, list(text), "How messages begin that say that there is no such resource.")
        keys.key("byField", \.isByField, flag, "Whether keys of the body are names of properties.")
    }

    /// The parts of a feed for each collection.
    private struct Since: Hashable, Sendable {
        var parameter = ""
        var token = AnswerPart.contentRange
        var deleted: JSONPath = ""
    }

    private static let since = FileForm<Since>.object("since", Since()) { keys in
        keys.key("parameter", \.parameter, text, isRequired: true, "The parameter that takes a version.")
        keys.key("token", \.token, answerPart, isRequired: true, "Where an answer has the version: header:ETag.")
        keys.key("deleted", \.deleted, path, isRequired: true, "The path to what marks removed resources.")
    }

    /// The way in which a service reports its changes.
    static let changeFeed = FileForm<ChangeFeedStyle>.choice(
        "feed of changes",
        [
            .key(
                "since", since, "Each collection is asked for what is newer than a version.",
                make: { .since(parameter: $0.parameter, token: $0.token, deleted: $0.deleted) }
            ) {
                if case .since(let parameter, let token, let deleted) = $0 {
                    Since(parameter: parameter, token: token, deleted: deleted)
                } else {
                    nil
                }
            },
            .key("couchDB", text, "CouchDB's feed at a path.", isText: true, make: { .couchDB(path: $0) }) {
                if case .couchDB(let path) = $0 { path } else { nil }
            },
        ])

    private struct Events: Sendable, Equatable {
        var path = ""
        var names: [String] = []
        var idleSeconds = 120.0
    }

    private static let events = FileForm<Events>.object("serverSentEvents", Events()) { keys in
        keys.key("path", \.path, text, isRequired: true, "The path behind the address of the service.")
        keys.key("names", \.names, list(text), "The names of the events that tell of changes; any unless they are said.")
        keys.key("idleSeconds", \.idleSeconds, seconds, "The time without a byte after which another connection is made.")
    }

    /// The way in which a service signals changes.
    static let changeSignals = FileForm<ChangeSignalStyle>.choice(
        "signal of changes",
        [
            .key(
                "serverSentEvents", events, "Server-sent events at a path.",
                make: { .serverSentEvents(path: $0.path, names: $0.names, idleSeconds: $0.idleSeconds) }
            ) {
                if case .serverSentEvents(let path, let names, let idleSeconds) = $0 {
                    Events(path: path, names: names, idleSeconds: idleSeconds)
                } else {
                    nil
                }
            }
        ])
}
