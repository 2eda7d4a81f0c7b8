public import Foundation
@_spi(Stores) internal import ObjectGraph

/// A value that a backend received and could not read. It is unknown in its row.
struct UnreadValue: Sendable {
    let id: NSManagedObjectID
    let property: String
    let note: UnreadableResource
}

// How an answer treats unreadable resources, according to `Resource.unreadable`.

extension BackendAnswer {
    /// Adds a resource. If some of its values do not fit, applies its ``Resource/unreadable`` policy, so that one unreadable resource does not lose the others.
    ///
    /// - Parameters:
    ///   - id: Its identifier.
    ///   - entity: Its entity; nil for that of the request.
    ///   - version: Its version; nil for none.
    ///   - raw: The data that the backend received, in its own format; evaluated only if the resource cannot be read.
    ///   - values: The known values, by the names of the properties.
    /// - Throws: Code 134070 for an entity that the model does not have.
    public mutating func addReadable(
        _ id: some ResourceIdentifier, entity: String? = nil, version: ResourceVersion? = nil, raw: @autoclosure () -> Data? = nil,
        _ values: [String: ResourceValue]
    ) throws {
        do { try add(id, entity: entity, version: version, values) } catch {
            let name = entity ?? self.entity
            let writer = try writer(name)
            writer.begin()
            var unread: [Unread] = []
            for (property, value) in values.sorted(by: { $0.key < $1.key }) {
                do {
                    let column = try writer.column(property)
                    if try !writer.put(value, column) { throw writer.unfit(value, column, id.resourceID) }
                } catch { unread.append((property, error)) }
            }
            add(writer, id: id.resourceID, version: version, unread: unread, raw: raw())
        }
    }

    /// A property that could not be read, with the reason.
    package typealias Unread = (property: String, reason: any Error)

    /// Adds the resource that a writer has begun. If some of its values could not be read, applies its ``Resource/unreadable`` policy.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - version: The version; nil if the backend has none.
    ///   - unread: The properties that could not be read, with the reasons. They are unknown to the writer.
    ///   - raw: The data that the backend received, in its own format; evaluated only if a value could not be read.
    package mutating func add(
        _ writer: ResourceRowWriter, id: ResourceID, version: ResourceVersion? = nil, unread: [Unread], raw: @autoclosure () -> Data? = nil
    ) {
        guard let first = unread.first else { return add(writer, id: id, version: version) }
        let name = writer.entity.description.name ?? "?"
        guard unreadablePolicy == .ownError else {
            return addUnreadable(writer, id: id, property: first.property, reason: first.reason, raw: raw())
        }
        let raw = raw()
        add(writer, id: id, version: version)
        for (property, reason) in unread {
            noteUnread(UnreadableResource(name, id: id, property: property, reason: reason, raw: raw), property)
        }
    }

    /// Adds an embedded resource, some of whose values could not be read, or omits it if its ``Resource/unreadable`` policy says so.
    package mutating func embed(
        _ writer: ResourceRowWriter, id: ResourceObjectID, version: ResourceVersion? = nil, unread: [Unread],
        raw: @autoclosure () -> Data? = nil
    ) {
        guard let first = unread.first else { return embed(writer, id: id, version: version) }
        let name = writer.entity.description.name ?? "?"
        let resource = decoding.resourceID(id.id)
        let raw = raw()
        guard decoding.unreadablePolicy(name) == .ownError else {
            unreadable.append(UnreadableResource(name, id: resource, property: first.property, reason: first.reason, raw: raw))
            notesOfPresent += 1
            return writer.cancel()
        }
        embed(writer, id: id, version: version)
        for (property, reason) in unread {
            noteUnread(UnreadableResource(name, id: resource, property: property, reason: reason, raw: raw), property, isEmbedded: true)
        }
    }

    /// Applies the ``Resource/unreadable`` policy to an unreadable resource that a writer has begun: the resource is dropped and reported, or added with the
    /// values that could be read.
    ///
    /// - Parameters:
    ///   - id: The identifier; nil if it could not be read either.
    ///   - property: The property that could not be read; nil if that is not known.
    ///   - reason: The reason why it cannot be read.
    ///   - raw: The data that the backend received, in its own format.
    package mutating func addUnreadable(
        _ writer: ResourceRowWriter, id: ResourceID?, property: String? = nil, reason: any Error, raw: @autoclosure () -> Data? = nil
    ) {
        let note = UnreadableResource(writer.entity.description.name ?? "?", id: id, property: property, reason: reason, raw: raw())
        guard let id else {
            unreadable.append(note)
            return writer.cancel()
        }
        switch unreadablePolicy {
        case .reported, .refused:
            unreadable.append(note)
            writer.cancel()
        case .keptRaw:
            unreadable.append(note)
            add(writer, id: id)
            keptRaw.append((id, rows.count - 1, note))
            notesOfPresent += 1
        case .ownError:
            add(writer, id: id)
            // Properties that the resource has not set are unknown.
            for name in property.map({ [$0] }) ?? unknownNames(isEmbedded: false) { noteUnread(note, name) }
        }
    }

    /// - Throws: Code 134070 if the resource's ``Resource/unreadable`` policy does not allow the unreadable resources of this answer.
    func refuseUnreadable(_ request: BackendRequest) throws {
        if unreadable.isEmpty { return }
        switch unreadablePolicy {
        case .reported, .keptRaw: return
        case .refused: if let first = unreadable.first { throw RemoteStoreError.unreadable(request, first) }
        case .ownError:
            let present = Set(unreadValues.lazy.map(\.note.id))
            guard leftOutCount > 0 else { return }
            let sample = unreadable.first { error in (error as? UnreadableResource).map { $0.id == nil || !present.contains($0.id) } ?? true
            }
            throw RemoteStoreError.leftOut(request, leftOutCount, of: foundCount, sample ?? unreadable[0])
        }
    }
}
