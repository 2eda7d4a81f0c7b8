import CoreData
import RandomPrograms

extension ProgramStore {
    static let inMemory = ProgramStore(name: "in memory") { model in
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return coordinator
    }

    static let atomic = ProgramStore(name: "atomic") { model in
        NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.typeName)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: ListStore.typeName, configurationName: nil, at: nil, options: ["disk": FakeDisk()])
        return coordinator
    }

    /// A database in memory.
    static let sqlite = ProgramStore(name: "SQLite") { model in
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
        return coordinator
    }

    /// A database in a file.
    static let sqliteFile = ProgramStore(name: "SQLite, several coordinators") { model in
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("programs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return try ProgramStore.models(like: model).map { model in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: directory.appendingPathComponent("store.sqlite"),
                options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
            return coordinator
        }
    } remove: { file in
        try? FileManager.default.removeItem(at: file.deletingLastPathComponent())
    }

    static let incremental = ProgramStore(name: "incremental") { try QueryingStore.make(model: $0).coordinator }

    /// A store that loads asynchronously, and holds saves back while the program goes on.
    static let server = ProgramStore(name: "a server", asksGate: true) { try ServerStore.make($0).coordinator }

    /// A store that answers for many objects by one question.
    static let incrementalInBatches = ProgramStore(name: "incremental, in batches") { model in
        let (store, coordinator) = try QueryingStore.make(model: model)
        store.answersMany = true
        return coordinator
    }
}

/// An incremental store over dictionaries that carries out predicate, order, limit and offset, and notices conflicts.
final class QueryingStore: DictionaryStore {
    override class var typeName: String { "QueryingStore" }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            try findConflicts((save.updatedObjects ?? []).union(save.deletedObjects ?? []))
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity else {
            return try super.execute(request, with: context)
        }
        var found = try records.filter { id, record in
            try id.entity.isKindOf(entity: entity) && fetch.predicate?.matches(record.values) ?? true
        }
        .map { (id: $0.key, values: $0.value.values) }
        let descriptors = fetch.sortDescriptors ?? []
        found.sort { first, second in
            for descriptor in descriptors {
                let (left, right) = (first.values[descriptor.key!] as? Int ?? 0, second.values[descriptor.key!] as? Int ?? 0)
                if left != right { return (left < right) == descriptor.ascending }
            }
            return false
        }
        found = Array(found.dropFirst(fetch.fetchOffset))
        if fetch.fetchLimit > 0 { found = Array(found.prefix(fetch.fetchLimit)) }
        switch fetch.resultType {
        case .countResultType: return [NSNumber(value: found.count)]
        case .managedObjectIDResultType: return found.map(\.id)
        default: return found.map { context!.object(with: $0.id) }
        }
    }

    private func findConflicts(_ objects: Set<NSManagedObject>) throws {
        let conflicts = objects.compactMap { object -> NSMergeConflict? in
            guard let read = baseVersion(of: object) else { return nil }
            let record = records[object.objectID]
            if record?.version == read { return nil }
            return NSMergeConflict(
                source: object, newVersion: Int(record?.version ?? 0), oldVersion: Int(read), cachedSnapshot: nil,
                persistedSnapshot: record?.values)
        }
        if conflicts.isEmpty { return }
        throw NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError, userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }
}
