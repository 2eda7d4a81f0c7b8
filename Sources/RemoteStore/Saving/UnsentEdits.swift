internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Finds edits that the backend does not accept: they would otherwise be saved locally, displayed, and lost.
struct UnsentEdits {
    private let catalog: Catalog
    /// Returns the identifier of an object, for errors.
    private let resourceID: (NSManagedObjectID) -> ResourceID?

    init(_ catalog: Catalog, _ resourceID: @escaping (NSManagedObjectID) -> ResourceID?) {
        (self.catalog, self.resourceID) = (catalog, resourceID)
    }

    /// Checks the changes of a save.
    ///
    /// - Throws: Code 1550 naming the property, for one that is not sent.
    func check(_ changes: StoreChangeSet) throws {
        guard catalog.hasUnsentProperties else { return }
        let deleted = Set(changes.deleted.map(\.objectID))
        func check(_ change: StoreChange, _ find: (StoreChange, Resource.Saving) -> String?) throws {
            guard let saving = catalog.saving(of: change.entity), !saving.unsent.isEmpty, let name = find(change, saving) else { return }
            throw RemoteStoreError.unsent(name, of: change.entity.name ?? "?", resourceID(change.objectID.current))
        }
        for change in changes.inserted {
            try check(change) { change, saving in
                change.row.flatMap { Self.given($0, change.entity, saving) }
                    ?? change.lists.first { Self.counts($0.name, saving) && !($0.added.isEmpty) }?.name
            }
        }
        for change in changes.updated {
            try check(change) { change, saving in
                Self.edited(change, saving, deleted)
                    ?? change.lists.first { list in
                        saving.unsent.contains(list.name) && !(list.added.isEmpty && list.removed.allSatisfy(deleted.contains))
                    }?.name
            }
        }
    }

    /// Whether the value of a property of a new object would be lost.
    private static func counts(_ name: String, _ saving: Resource.Saving) -> Bool {
        if case .attribute(name) = saving.identity { return false }
        return saving.unsent.contains(name) && !saving.assigned.contains(name)
    }

    /// Returns a property of a new object that is not sent and does not have its default value; nil for none.
    static func given(_ row: Row, _ entity: NSEntityDescription, _ saving: Resource.Saving) -> String? {
        if saving.unsent.isEmpty { return nil }
        let usual = entity.frozenParts.layout.defaultRow.copy()
        return entity.frozenParts.properties.first { property in
            guard counts(property.name, saving), isStored(property), !row.isUnknown(property) else { return false }
            switch property {
            case let attribute as NSAttributeDescription:
                let value = ResourceValue.value(row.value(of: attribute))
                return !value.isNull && !value.isSame(as: .value(usual.value(of: attribute)))
            case let relationship as NSRelationshipDescription where !relationship.isToMany: return !row.relatedIDs(relationship).isEmpty
            default: return false
            }
        }?.name
    }

    /// Returns a property of a changed object that is not sent and does not have the value that was read; nil for none.
    private static func edited(_ change: StoreChange, _ saving: Resource.Saving, _ deleted: Set<NSManagedObjectID>) -> String? {
        guard let row = change.row else { return nil }
        return change.changedProperties.first { property in
            guard saving.unsent.contains(property.name), isStored(property), !row.isUnknown(property) else { return false }
            let base = change.base.flatMap { $0.isUnknown(property) ? nil : $0 }
            switch property {
            case let attribute as NSAttributeDescription:
                guard let base else { return true }
                return !ResourceValue.value(row.value(of: attribute)).isSame(as: .value(base.value(of: attribute)))
            case let relationship as NSRelationshipDescription where !relationship.isToMany:
                guard let base else { return true }
                let (now, before) = (row.relatedIDs(relationship).first, base.relatedIDs(relationship).first)
                // The deletion of an object removes it from the relationships that lead to it, both here and at the service.
                return now != before && !(now == nil && before.map(deleted.contains) ?? false)
            default: return false
            }
        }?.name
    }

    private static func isStored(_ property: NSPropertyDescription) -> Bool {
        !property.isTransient && !(property is NSDerivedAttributeDescription)
    }
}
