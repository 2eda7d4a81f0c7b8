internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A resource in the answer of a part, with references by the identities of the combination.
struct PartRow: Sendable {
    let entity: String
    /// The part's identifier of the resource.
    let native: ResourceID
    /// The combination's identifier of the resource; nil if it has no identity.
    let identity: ResourceID?
    let version: ResourceVersion?
    var values: [String: ResourceValue]
    /// The unreadable values, by the names of the properties.
    var unread: [String: UnreadableResource] = [:]

    /// Adds the unreadable values to the last resource of an answer.
    func noteUnread(in answer: inout BackendAnswer, among names: Set<String>? = nil, isEmbedded: Bool = false) {
        for (name, note) in unread.sorted(by: { $0.key < $1.key }) where names?.contains(name) ?? true {
            answer.noteUnread(note, name, isEmbedded: isEmbedded)
        }
    }
}

/// An answer of a part.
struct PartPage: Sendable {
    let answer: BackendAnswer
    var rows: [PartRow]
    var embedded: [PartRow]
    /// The errors that are not about values of the rows.
    var unreadable: [any Error]
    /// The number of errors that are about existing resources.
    var notesOfPresent = 0

    /// Copies the errors to an answer of the combination.
    func take(_ answer: inout BackendAnswer) {
        answer.unreadable += unreadable
        answer.notesOfPresent += notesOfPresent
    }

    /// Adds the embedded resources to an answer of the combination.
    func embed(in answer: inout BackendAnswer) throws {
        for row in embedded {
            guard let id = row.identity else { continue }
            try answer.embed(id, entity: row.entity, version: row.version, row.values)
            row.noteUnread(in: &answer, isEmbedded: true)
        }
    }
}

extension CombinedMember {
    /// Requests a page.
    func page(_ request: BackendRequest) async throws -> PartPage {
        let answer = try await part.backend.answer(request)
        try answer.refuseUnreadable(request)
        var unreadable = answer.unreadable
        if !answer.unreadValues.isEmpty {
            // These errors belong to their rows.
            let values = Set(answer.unreadValues.lazy.map { Unread(entity: $0.note.entity, id: $0.note.id, property: $0.note.property) })
            unreadable.removeAll { error in
                (error as? UnreadableResource).map { values.contains(Unread(entity: $0.entity, id: $0.id, property: $0.property)) } ?? false
            }
        }
        var page = PartPage(
            answer: answer, rows: rows(answer.rows, of: answer), embedded: rows(answer.embedded, of: answer), unreadable: unreadable,
            notesOfPresent: answer.notesOfPresent - (answer.unreadable.count - unreadable.count))
        if !isPlain { try await translate(&page) }
        return page
    }

    /// An unreadable value.
    private struct Unread: Hashable {
        let entity: String
        let id: ResourceID?
        let property: String?
    }

    /// Reads all pages.
    ///
    /// - Throws: Code 134070 for pages that do not end, or that shift faster than they are read.
    func all(_ request: BackendRequest, _ endpoint: Endpoint) async throws -> PartPage {
        for _ in 0..<3 {
            var whole: PartPage?
            var seen: Set<PageToken> = []
            var totals: Set<Int> = []
            var next = request
            while true {
                let page = try await page(next)
                if let total = page.answer.total { totals.insert(total) }
                if whole == nil {
                    whole = page
                } else {
                    whole?.rows += page.rows
                    whole?.embedded += page.embedded
                    whole?.unreadable += page.unreadable
                    whole?.notesOfPresent += page.notesOfPresent
                }
                guard let token = page.answer.next else { break }
                if !seen.insert(token).inserted { throw RemoteStoreError.endlessPages(next, .named) }
                if seen.count >= RemoteStoreOptions.usualPages {
                    throw RemoteStoreError.tooMany(next.entity, rows: whole?.rows.count ?? 0, requests: seen.count, RemoteStoreOptions())
                }
                next.page = token
            }
            // Resources were inserted or deleted meanwhile, so that others have moved past the end of a page.
            if let whole, endpoint.paging.stability == .cursors || totals.count <= 1 { return whole }
        }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "“\(request.entity)” of “\(name)” cannot be read.",
            reason: "Its pages have changed three times while they were read.", next: "Try again, or page by cursors.")
    }

    /// Reads objects by their identity; objects that the part does not have are omitted.
    ///
    /// - Throws: The part's error; code 134070 if it has several resources with the same identity.
    func lookup(_ ids: Set<ResourceID>, _ share: CombinedBackend.Share) async throws -> [ResourceID: PartRow] {
        guard let lookup = lookups[share.entity], !ids.isEmpty else { return [:] }
        let path = lookup.asksIdentifiers ? "SELF" : share.identity
        return try await read(ids, share, lookup.endpoint, lookup.parameter, path) { $0.identity }
    }

    /// Reads objects by the part's own identifiers.
    private func readOwn(_ ids: Set<ResourceID>, _ share: CombinedBackend.Share) async throws -> [ResourceID: PartRow] {
        guard let own = lookups[share.entity]?.own, !ids.isEmpty else { return [:] }
        return try await read(ids, share, own.endpoint, own.parameter, "SELF") { $0.native }
    }

    private func read(
        _ ids: Set<ResourceID>, _ share: CombinedBackend.Share, _ endpoint: Endpoint, _ parameter: Parameter?, _ path: String,
        by key: @escaping @Sendable (PartRow) -> ResourceID?
    ) async throws -> [ResourceID: PartRow] {
        var found: [ResourceID: PartRow] = [:]
        var missing = ids
        while !missing.isEmpty {
            let request = BackendRequest(entity: share.entity, endpoint: endpoint.name, decoding: decoding)
            var requests = [request]
            let size = parameter.map { $0.operators.contains(.isIn) ? $0.maximumValues : 1 }
            if let parameter, let size {
                requests = missing.sorted { $0.encoded < $1.encoded }.parts(of: size).map { part in
                    var request = request
                    request.add(parameter, path, ids: Array(part), logic: endpoint.logic)
                    return request
                }
            }
            let pages = try await withThrowingTaskGroup(of: PartPage.self) { group in
                for request in requests { group.addTask { try await self.all(request, endpoint) } }
                var pages: [PartPage] = []
                for try await page in group { pages.append(page) }
                return pages
            }
            let before = missing.count
            for row in pages.flatMap(\.rows) {
                guard let id = key(row), ids.contains(id) else { continue }
                if let other = found.updateValue(row, forKey: id), other.native != row.native {
                    throw CoreDataError.make(
                        NSPersistentStoreOperationError, "“\(share.entity)” \(id) cannot be read.",
                        reason: "“\(name)” has it twice, as \(other.native) and as \(row.native).", next: "Remove one of the two there.")
                }
                missing.remove(id)
            }
            // Only a read by identifiers may leave some objects for another answer.
            let isProven = path != "SELF" || size == 1 || pages.allSatisfy(\.answer.isComplete)
            if isProven || missing.count == before { break }
        }
        return found
    }

    // MARK: Rows

    /// Returns the rows of an answer of a change feed.
    func rows(of changes: BackendChanges) -> [PartRow] { rows(changes.answer.rows, of: changes.answer) }

    /// Returns the rows of an answer as values.
    private func rows(_ list: RowList, of answer: BackendAnswer) -> [PartRow] {
        let unread = Dictionary(grouping: answer.unreadValues, by: \.id)
        return list.compactMap { row in
            let objectID = row.knownObjectID
            let entity = objectID.owningEntity
            guard let native = ResourceID(objectID.reference), let name = entity.name else { return nil }
            var values: [String: ResourceValue] = [:]
            for property in entity.frozenParts.properties where !property.isTransient && !row.isUnknown(property) {
                switch property {
                case let attribute as NSAttributeDescription: values[attribute.name] = .value(row.value(of: attribute))
                case let relationship as NSRelationshipDescription:
                    let references = row.relatedIDs(relationship).compactMap { id -> ResourceReference? in
                        let kind = id.owningEntity === relationship.destinationEntity ? nil : id.owningEntity.name
                        return ResourceID(id.reference).map { ResourceReference($0, entity: kind) }
                    }
                    values[relationship.name] = relationship.isToMany ? .many(references) : .one(references.first)
                default: continue
                }
            }
            var identity: ResourceID? = native
            if let share = share(of: name) {
                if share.identifiesAlike {
                    values[share.identity] = .value(native.attributeValue)
                } else {
                    identity = ResourceID(values[share.identity]?.value ?? .null)
                }
            }
            let number: ResourceVersion? = answer.hasVersions || row.version != 0 ? .number(row.version) : nil
            let version = answer.tags[row.slots].map { .tag($0) } ?? number
            var result = PartRow(entity: name, native: native, identity: identity, version: version, values: values)
            for value in unread[objectID] ?? [] { result.unread[value.property] = value.note }
            return result
        }
    }

    // MARK: References

    /// Returns the part's identifiers of objects, by their identities.
    func natives(of identities: Set<ResourceID>, _ share: CombinedBackend.Share) async throws -> [ResourceID: ResourceID] {
        try await lookup(identities, share).mapValues(\.native)
    }

    /// Replaces the part's own identifiers in references to shared objects by their identities. Dangling references become nil, and are reported.
    private func translate(_ page: inout PartPage) async throws {
        var known: [String: [ResourceID: ResourceID]] = [:]
        var wanted: [String: Set<ResourceID>] = [:]
        for row in page.rows + page.embedded {
            if translation(of: row.entity) != nil, let identity = row.identity { known[row.entity, default: [:]][row.native] = identity }
            for (name, value) in row.values {
                if let share = translation(of: name, row.entity) { wanted[share.entity, default: []].formUnion(value.references.map(\.id)) }
            }
        }
        for (entity, ids) in wanted {
            guard let share = share(of: entity) else { continue }
            let missing = ids.subtracting(known[entity, default: [:]].keys)
            for (native, row) in try await readOwn(missing, share) { known[entity, default: [:]][native] = row.identity }
        }
        if wanted.isEmpty { return }
        var notes: [any Error] = []
        func translated(_ row: PartRow) -> PartRow {
            var row = row
            for (name, value) in row.values {
                guard let share = translation(of: name, row.entity) else { continue }
                let ids = known[share.entity, default: [:]]
                if let lost = value.references.first(where: { ids[$0.id] == nil }) {
                    let reason = RemoteStoreError.unidentified(lost.id, share.entity, in: self.name)
                    notes.append(UnreadableResource(row.entity, id: row.identity, reason: reason, raw: nil))
                }
                row.values[name] = value.mapReferences { reference in ids[reference.id].map { ResourceReference($0) } }
            }
            return row
        }
        page.rows = page.rows.map(translated)
        page.embedded = page.embedded.map(translated)
        page.unreadable += notes
        page.notesOfPresent += notes.count
    }

    /// The share of a relationship's destination, if its objects must be translated.
    func translation(of property: String, _ entity: String) -> CombinedBackend.Share? {
        translation(of: (entities[entity]?.propertiesByName[property] as? NSRelationshipDescription)?.destinationEntity?.name)
    }
}

extension ResourceValue {
    /// The referenced resources.
    var references: [ResourceReference] {
        switch self {
        case .value: []
        case .one(let reference): reference.map { [$0] } ?? []
        case .many(let references): references
        }
    }

    /// Returns the value with other references, without those for which there is none.
    func mapReferences(_ transform: (ResourceReference) -> ResourceReference?) -> ResourceValue {
        switch self {
        case .value: self
        case .one(let reference): .one(reference.flatMap(transform))
        case .many(let references): .many(references.compactMap(transform))
        }
    }
}
