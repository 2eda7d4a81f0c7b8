import CoreData
import TestSupport
import Testing

@Suite("Fetch request templates and fetched properties") struct TemplateTests {
    /// A context of a model with a template and two fetched properties.
    private func withTemplates(_ body: (NSManagedObjectContext, NSManagedObjectModel) throws -> Void) throws {
        let model = Music.model()
        let byName = NSFetchRequest<any NSFetchRequestResult>(entityName: "Band")
        byName.predicate = NSPredicate(format: "name BEGINSWITH $NAME")
        byName.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        model.setFetchRequestTemplate(byName, forName: "byName")
        let siblings = NSFetchedPropertyDescription()
        siblings.name = "siblings"
        siblings.fetchRequest = NSFetchRequest(entityName: "Album")
        siblings.fetchRequest?.predicate = NSPredicate(format: "band == $FETCH_SOURCE.band AND SELF != $FETCH_SOURCE")
        siblings.fetchRequest?.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let sameYear = NSFetchedPropertyDescription()
        sameYear.name = "sameYear"
        sameYear.fetchRequest = NSFetchRequest(entityName: "Album")
        sameYear.fetchRequest?.predicate = NSPredicate(format: "year == $FETCH_SOURCE.year")
        let album = try #require(model.entitiesByName["Album"])
        album.properties += [siblings, sameYear]
        // A copy has templates and properties of its own.
        let copy = model.copy() as! NSManagedObjectModel
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: copy)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            try context.saveBand("Low", albums: ["C", "A", "B"])
            try context.saveBand("Lovage", albums: ["D"])
            try body(context, copy)
        }
    }

    @Test("A template's variables are replaced, and the template stays as it is")
    func substitution() throws {
        try withTemplates { context, model in
            expect(Array(model.fetchRequestTemplatesByName.keys), equals: ["byName"])
            let request = try #require(model.fetchRequestFromTemplate(withName: "byName", substitutionVariables: ["NAME": "Lo"]))
            try expect(context.fetch(request).compactMap { ($0 as? Band)?.name }, equals: ["Lovage", "Low"])
            request.fetchLimit = 1
            expect(model.fetchRequestTemplate(forName: "byName")?.fetchLimit, equals: 0)
            expect(model.fetchRequestTemplate(forName: "byName")?.predicate?.formatString, equals: "name BEGINSWITH $NAME")
            #expect(model.fetchRequestFromTemplate(withName: "other", substitutionVariables: [:]) == nil)
        }
    }

    @Test("A variable without a value is an error that names it")
    func missingVariable() throws {
        try withTemplates { context, model in
            let request = try #require(model.fetchRequestFromTemplate(withName: "byName", substitutionVariables: [:]))
            let error = failure { _ = try context.fetch(request) }
            expect(error.map { "\($0)" }?.contains("NAME"), equals: true)
        }
    }

    @Test("A fetched property finds objects by the object that has it, and keeps them until a refresh")
    func fetchedProperty() throws {
        try withTemplates { context, _ in
            let album = try #require(try context.all(Album.self, "title == 'A'").first)
            // A variable given an object is followed like the object.
            let same = NSFetchRequest<Album>(entityName: "Album")
            same.predicate = NSPredicate(format: "band.name == $album.band.name").withSubstitutionVariables(["album": album])
            try expect(context.count(for: same), equals: 3)
            func siblings() -> [String]? { (album.value(forKey: "siblings") as? [Album])?.map(\.title) }
            expect(siblings(), equals: ["B", "C"])
            expect((album.value(forKey: "sameYear") as? [Album])?.count, equals: 4)
            let another = Album(context: context)
            another.title = "E"
            another.band = album.band
            try context.save()
            expect(siblings(), equals: ["B", "C"])
            context.refresh(album, mergeChanges: true)
            expect(siblings(), equals: ["B", "C", "E"])
        }
    }

    @Test("Fetched properties stand among an entity's properties, and rows have nothing of them")
    func description() throws {
        try withTemplates { context, model in
            let entity = try #require(model.entitiesByName["Album"])
            #expect(entity.propertiesByName["siblings"] is NSFetchedPropertyDescription)
            #expect(entity.properties.contains { $0.name == "siblings" })
            #expect(entity.attributesByName["siblings"] == nil)
            let album = try #require(try context.all(Album.self).first)
            #expect(album.committedValues(forKeys: nil)["siblings"] == nil)
        }
    }

    @Test("A fetched property whose request names no entity is a mistake of the model")
    func mistake() throws {
        let model = Music.model()
        let property = NSFetchedPropertyDescription()
        property.name = "others"
        model.entitiesByName["Album"]?.properties.append(property)
        let error = failure { _ = try NSPersistentStoreCoordinator(checking: model) }
        expect(error?.localizedDescription.contains("“Album.others” has no fetch request that names an entity"), equals: true)
    }
}
