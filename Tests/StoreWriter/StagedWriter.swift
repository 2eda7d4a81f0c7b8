import CoreData

/// The versions of a model of notes, and their stages.
enum StagedWriter {
    static func version(_ number: Int) -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = [attribute("text", .stringAttributeType)]
        if number < 3 { note.properties.append(attribute("number", .integer64AttributeType)) }
        if number > 1 { note.properties.append(attribute("title", .stringAttributeType)) }
        if number > 2 { note.properties.append(attribute("length", .integer64AttributeType)) }
        if number > 3 { note.properties.append(attribute("color", .stringAttributeType)) }
        let model = NSManagedObjectModel(entities: [note])
        model.versionIdentifiers = ["\(number)"]
        return model
    }

    static func stages() -> [NSMigrationStage] {
        func reference(_ number: Int) -> NSManagedObjectModelReference {
            NSManagedObjectModelReference(model: version(number), versionChecksum: version(number).versionChecksum)
        }
        func edit(_ manager: NSStagedMigrationManager, _ body: (NSManagedObject) -> Void) throws {
            guard let context = manager.container?.newBackgroundContext() else { return }
            try context.performAndWait {
                for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) { body(note) }
                try context.save()
            }
        }
        let titles = NSCustomMigrationStage(migratingFrom: reference(1), to: reference(2))
        titles.willMigrateHandler = { manager, _ in
            report("will 1")
            try edit(manager) { $0.setValue($0.value(forKey: "text") ?? "empty", forKey: "text") }
        }
        titles.didMigrateHandler = { manager, _ in
            report("did 2")
            try edit(manager) { $0.setValue("note \($0.value(forKey: "number") ?? "?")", forKey: "title") }
        }
        let lengths = NSCustomMigrationStage(migratingFrom: reference(2), to: reference(3))
        lengths.didMigrateHandler = { manager, _ in
            report("did 3")
            try edit(manager) { $0.setValue(($0.value(forKey: "text") as? String)?.count, forKey: "length") }
        }
        return [titles, lengths, NSLightweightMigrationStage([version(4).versionChecksum])]
    }

    static func run(_ file: String, _ count: Int) throws {
        let url = URL(fileURLWithPath: file)
        if FileManager.default.fileExists(atPath: file) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(4))
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages())])
            report("done")
            return
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(1))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 0..<count {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(number, forKey: "number")
                note.setValue(number % 5 == 0 ? nil : String(repeating: "n", count: number % 50), forKey: "text")
            }
            try context.save()
        }
        report("filled")
    }
}
