internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

/// Checks the description of saving.
struct SavingChecks {
    private let saving: SavingStyle
    private let place: String

    init(_ saving: SavingStyle, _ place: String) { (self.saving, self.place) = (saving, place) }

    private func refused(_ reason: String, _ next: String) -> any Error { WebBackendError.description(place, reason, next: next) }

    func run() throws {
        for (path, template) in saving.constants.sorted(by: { $0.key < $1.key }) {
            let template = Template(template)
            if let unknown = template.places.first(where: { $0 != "type" && $0 != "SELF" }) {
                throw refused("The constant “\(path)” has “{\(unknown)}”, which stands for nothing here.", "Write {type} or {SELF}.")
            }
            try Self.checkJSON(template.filled { _ in "0" }, "The constant “\(path)”", place)
        }
        if let removal = saving.removal { try Self.checkJSON(removal, "“removal”", place) }
        if case .backend = saving.conflicts, saving.precondition == .none {
            throw refused(
                "“conflicts” says that the service notices changes of others, and nothing tells it which version a change is made on.",
                "Write precondition: ifMatch or field, or conflicts: byReading or none.")
        }
        if saving.conflicts == .none, saving.precondition != .none {
            throw refused(
                "“precondition” notices changes of others, and “conflicts” says that nobody does.", "Remove one of the two.")
        }
        if saving.delete?.answer != nil {
            throw refused("The answer to a deletion is not read: what matters is its status.", "Remove “answer” of “delete”.")
        }
        for (key, action) in actions where key != "delete" {
            if let method = action?.method, method == .get || method == .head {
                throw refused("“\(key)” has a body, and \(method.rawValue) has none.", "Write the method that the service takes.")
            }
        }
        try checkBatch()
    }

    /// The names of the settings that add headers to the requests that save.
    private var headerKeys: [String] {
        [
            ("precondition: ifMatch", saving.precondition == .ifMatch), ("createsIfNoneMatch", saving.createsIfNoneMatch),
            ("idempotencyHeader", saving.idempotencyHeader != nil),
        ].filter(\.1).map(\.0)
    }

    private func checkBatch() throws {
        switch saving.batch {
        case nil: return
        case .requests(let batch)?:
            if batch.status == nil, batch.error == nil {
                throw refused("Its batch says neither where a status is nor where a failure.", "Describe “status” or “error” of the batch.")
            }
            if batch.maximum == 1 { throw refused("A batch of one request is none.", "Write another maximum, or batch: none.") }
            if batch.status == nil, let key = headerKeys.first {
                throw refused(
                    "The requests of a batch without “status” have no headers, so that “\(key)” would not hold for them.",
                    "Describe “status” of the batch, or write batch: none.")
            }
        case .documents?:
            if let key = headerKeys.first {
                throw refused(
                    "Resources that are sent as a list have no headers of their own, so that “\(key)” would not hold for them.",
                    key.hasPrefix("precondition") ? "Write precondition: field, or batch: none." : "Remove it, or write batch: none.")
            }
            if !saving.item.isEmpty {
                throw refused(
                    "Resources that are sent as a list stand there as they are, and not at “\(saving.item)”.",
                    "Remove “item”, or write batch: none.")
            }
            if let (key, _) = actions.first(where: { $0.action?.query.isEmpty == false }) {
                throw refused(
                    "Resources that are sent as a list have no parameters of “\(key)”.", "Remove its “query”, or write batch: none.")
            }
        }
    }

    /// Checks the parts that depend on the resource.
    func run(_ plan: ResourcePlan) throws {
        try run(plan.version)
        let isAssigned = saving.identity == .assignedByService
        if saving.createsIfNoneMatch, isAssigned, saving.createIdentified == nil {
            throw refused(
                "“createsIfNoneMatch” is about new resources with an identifier, and the service assigns these.",
                "Write identity: newUUID or attribute:NAME, or remove it.")
        }
        if saving.identity == .newUUID, plan.identifier == .integer {
            throw refused("Identifiers are numbers, and new resources are to get a UUID.", "Change “identity” or “identifier”.")
        }
        if case .attribute(let name) = saving.identity, plan.identifier != .uuid, plan.identity.count == 1,
            case .attribute(.UUIDAttributeType, _)? = plan.properties[name]?.kind
        {
            throw refused(
                "New resources are identified by “\(name)”, a UUID, and rows by text: each would be two objects.",
                "Write identifier: uuid for “\(plan.entity)”.")
        }
        if saving.current != nil, saving.precondition == .none, !saving.createsIfNoneMatch, saving.createIdentified == nil {
            throw refused(
                "“current” is in the answer to a refused precondition, and there is none.", "Describe “precondition”, or remove it.")
        }
        let names = plan.propertiesOfKinds.values.reduce(into: Set(["SELF"])) { $0.formUnion($1) }
        for (key, action) in actions {
            guard let action else { continue }
            let path = Template(action.path.replacing("{path}", with: plan.collection).replacing("{type}", with: plan.type))
            let places = path.places.map(CallPlan.keyPath)
            if let unknown = places.first(where: { !names.contains($0) }) {
                throw refused(
                    "“\(action.path)” of “\(key)” names “\(unknown)”, which the entity does not have.", "Name a property, or SELF.")
            }
            if key == "create", isAssigned, places.contains("SELF") {
                throw refused(
                    "“\(action.path)” of “create” has the identifier, which the service assigns only then.",
                    "Write identity: newUUID or attribute:NAME, or another path.")
            }
            let isOfList = places.isEmpty && plan.calls.contains { $0.call.returns != .one && $0.path == path }
            let tellsInBody = saving.replacesWholeResources || saving.constants.values.contains { $0.contains("{SELF") }
            if isOfList, key == "delete" || key == "update" && !tellsInBody {
                throw refused(
                    "“\(action.path)” of “\(key)” is the whole list, and not a resource.", "Write {SELF} where its identifier stands.")
            }
        }
        try checkReading(plan)
        try checkDeletion(plan.deletableList)
    }

    private var actions: [(key: String, action: SavingStyle.Action?)] {
        [("create", saving.create), ("createIdentified", saving.createIdentified), ("update", saving.update), ("delete", saving.delete)]
    }

    /// Checks the parts that need to read a resource first.
    private func checkReading(_ plan: ResourcePlan) throws {
        if plan.callByIdentifier != nil { return }
        let next = "Describe such a call: calls: [one]."
        if saving.insertsReplace(plan), plan.deletableList == nil {
            throw refused(
                "A new resource is put over one that has its identifier, so that such a one has to be looked for before, and no call reads it.",
                "\(next) Or write createsIfNoneMatch: true where the service knows that header, or conflicts: none where the last one is to win."
            )
        }
        if saving.update != nil, !saving.replacesWholeResources, let (name, holder) = plan.writtenWithinAnother {
            throw refused(
                "“\(name)” stands in the object at “\(holder)”, which a change replaces, so that the rest of it has to be read before, and no call reads a resource by its identifier.",
                "\(next) Or write contentType: application/merge-patch+json in the style, where the service merges objects, or readOnly: true for the property."
            )
        }
        if saving.replacesWholeResources, saving.update != nil {
            throw refused("A resource that is replaced as a whole has to be read before, and no call reads one by its identifier.", next)
        }
        if plan.comparesBeforeDeleting, saving.delete != nil {
            throw refused(
                "The version is a field, which a request that deletes does not have, so that it has to be read before; no call reads one by its identifier.",
                "\(next) Or write precondition: ifMatch, or delete: none.")
        }
    }

    /// Checks that all conditions of a bulk deletion reach the service.
    private func checkDeletion(_ list: CallPlan?) throws {
        guard saving.deletesLists, let list else { return }
        if list.call.method != .get {
            throw refused(
                "“deletesLists” sends the list “\(list.call.name)” with DELETE, and what it is filtered by stands in a body.",
                "Write deletesLists: false.")
        }
        switch list.paging.form {
        case .none: return
        case .address where list.paging.next != .contentRange: return
        case .address, .number, .offset, .cursor:
            throw refused(
                "“deletesLists” would delete the first page of the list “\(list.call.name)”, and go on only where an answer names the address of the next one.",
                "Write deletesLists: false, or paging: none or {next: …} in the call.")
        }
    }

    private func run(_ version: VersionSource) throws {
        switch (saving.precondition, version) {
        case (.none, _), (.ifMatch, .eTag), (_, .number), (_, .tag): break
        case (_, .none):
            throw refused(
                "“precondition” promises that no change is made on another version, and nothing says where versions are.",
                "Describe “version”, or write precondition: none.")
        case (.field, .eTag):
            throw refused("“precondition” is a field of the resource, and versions are in the header ETag.", "Write precondition: ifMatch.")
        }
    }

    static func checkJSON(_ text: String, _ what: String, _ place: String) throws {
        do { _ = try JSONValue(parsing: Array(text.utf8)) } catch {
            throw WebBackendError.description(place, "\(what) is no JSON: \(error.reason)", next: "Write JSON: strings in quotation marks.")
        }
    }
}

extension SavingStyle {
    /// Returns whether a new resource replaces an existing one with its identifier, unless the store looks for that first.
    ///
    /// Four cases do not replace: services refuse a `POST` with an existing identifier, `If-None-Match` refuses it, CouchDB demands the `_rev` of the
    /// existing resource, and a UUID that the store makes is unique.
    func insertsReplace(_ plan: ResourcePlan) -> Bool {
        guard case .attribute = identity, let action = createIdentified ?? create, action.method != .post else { return false }
        return !createsIfNoneMatch && (conflicts != .none || precondition != .none) && !plan.namesRevision
    }
}
