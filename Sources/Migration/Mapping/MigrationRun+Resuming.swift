internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

// Opens the new store, or that of a migration that was killed.

extension MigrationRun {
    /// Returns whether an earlier migration was killed after the store was moved into place; its leftovers are removed then.
    func isMovedAlready() throws -> Bool {
        guard destination.isResumable, destination.isTaken, let contents = kept,
            contents.records.last?.step.pass == .complete
        else { return false }
        let uuids = [(destination.type, destination.url), source.place].map { type, url in
            (try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url))?[NSStoreUUIDKey] as? String
        }
        guard uuids[0] != nil, uuids[0] == uuids[1] else { return false }
        try destination.removeUnfinished()
        manager.progress.completedUnitCount = manager.progress.totalUnitCount
        return true
    }

    func openDestination(_ fingerprint: String) throws {
        do {
            if try resume(fingerprint) { return }
            try destination.prepare()
            try openStore()
            if destination.isResumable { journal = try MigrationJournal.create(at: destination.journal, fingerprint: fingerprint) }
        } catch {
            throw MigrationError.wrapped(error, NSMigrationManagerDestinationStoreError, nil, nil, "The new store cannot be written.")
        }
    }

    func openStore() throws {
        guard let coordinator = manager.destinationContext.persistentStoreCoordinator else { return }
        store = try coordinator.addPersistentStore(
            ofType: destination.type, configurationName: nil, at: destination.unfinished, options: destination.options)
    }

    /// Opens the store of a migration that was killed, if there is one of the same source and mapping.
    func resume(_ fingerprint: String) throws -> Bool {
        guard destination.isResumable, let contents = kept, contents.fingerprint == fingerprint else {
            return false
        }
        do { try openStore() } catch {
            Log.store.notice("The unfinished migration at \(destination.folder.path) begins again: \(error.localizedDescription)")
            return false
        }
        var sequence = (store?.metadata?[Self.sequenceKey] as? NSNumber)?.intValue ?? 0
        // The last save removes the number, and gives the store the UUID of the source.
        if sequence == 0, let last = contents.records.last, last.step.pass == .complete, store?.identifier == source.store?.identifier {
            sequence = last.sequence
        }
        guard sequence > 0, let last = contents.records.lastIndex(where: { $0.sequence == sequence }) else {
            try closeStore()
            return false
        }
        self.sequence = sequence
        resumed = contents.records[last].step
        restored = Array(contents.records[...last])
        journal = try MigrationJournal.open(destination.journal, length: contents.ends[last])
        manager.isResuming = true
        return true
    }

    func startAgain() throws {
        try journal?.close()
        journal = nil
        let fingerprint = kept?.fingerprint ?? ""
        try closeStore()
        (resumed, restored, sequence) = (nil, [], 0)
        manager.isResuming = false
        try destination.prepare()
        try openStore()
        journal = try MigrationJournal.create(at: destination.journal, fingerprint: fingerprint)
        guard let origin = source.store, let store else { return }
        associations = plans.map { _ in AssociationTable(source: origin, destination: store) }
    }

    func restore() throws {
        let records = restored
        restored = []
        guard let sources = manager.sourceContext.persistentStoreCoordinator,
            let destinations = manager.destinationContext.persistentStoreCoordinator
        else { return }
        for index in records.last?.ownObjects ?? [] where plans.indices.contains(index) { plans[index].hasOwnObjects = true }
        for pairs in records.flatMap(\.pairs) where associations.indices.contains(pairs.mapping) {
            switch pairs.ids {
            case .numbers(let source, let destination, let sourceNumbers, let destinationNumbers):
                guard let sourceEntity = sources.managedObjectModel.entitiesByName[source],
                    let destinationEntity = destinations.managedObjectModel.entitiesByName[destination]
                else { continue }
                for (source, destination) in zip(sourceNumbers, destinationNumbers) {
                    associations[pairs.mapping].append(source: source, of: sourceEntity, destination: destination, of: destinationEntity)
                }
            case .uris(let sourceURIs, let destinationURIs):
                for (source, destination) in zip(sourceURIs, destinationURIs) {
                    guard let source = URL(string: source).flatMap({ sources.managedObjectID(forURIRepresentation: $0) }),
                        let destination = URL(string: destination).flatMap({ destinations.managedObjectID(forURIRepresentation: $0) })
                    else { continue }
                    associations[pairs.mapping].append(source, destination)
                }
            }
        }
    }
}
