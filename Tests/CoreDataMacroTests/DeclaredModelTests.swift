#if Macros
import CoreDataMacros
import Testing

/// The models that classes declare.
struct DeclaredModelTests {
    private func entity(_ objectClass: NSManagedObject.Type, in model: NSManagedObjectModel) throws -> NSEntityDescription {
        try #require(model.entities.first { $0.managedObjectClass == objectClass })
    }

    @Test func classesThatARelationshipLeadsToAreFound() throws {
        let model = try NSManagedObjectModel(for: Album.self)
        #expect(Set(model.entities.map(\.name)) == ["Record", "Item", "Band", "Track"])
        #expect(model.entitiesByName["Record"]?.superentity?.name == "Item")
        let leaves = try NSManagedObjectModel(for: Leaf.self)
        #expect(leaves.entitiesByName["Leaf"]?.superentity?.name == "Node")
        #expect(leaves.entities.count == 2)
    }

    @Test func theModelIsThatWhichDescriptionsMake() throws {
        let name = NSAttributeDescription(name: "name", type: .string, isOptional: false, defaultValue: "")
        let parent = NSRelationshipDescription()
        parent.name = "parent"
        parent.maxCount = 1
        let children = NSRelationshipDescription()
        children.name = "children"
        let node = NSEntityDescription(name: "Node", managedObjectClass: Node.self, properties: [name, parent, children])
        parent.destinationEntity = node
        children.destinationEntity = node
        parent.inverse(to: children)
        let model = NSManagedObjectModel(entities: [node])
        #expect(try NSManagedObjectModel(for: Node.self).differences(from: model) == [])
    }

    @Test func everyOptionOfAnAttributeReachesTheModel() throws {
        let model = try NSManagedObjectModel(for: Album.self)
        let album = try entity(Album.self, in: model)
        let attributes = album.attributesByName
        #expect(attributes["title"]?.defaultValue as? String == "Untitled")
        #expect(attributes["title"]?.validationPredicates.map(\.formatString) == ["length >= 1", "length <= 80"])
        #expect(attributes["year"]?.type == .integer16)
        #expect(attributes["year"]?.isOptional == false)
        #expect(attributes["year"]?.validationPredicates.map(\.formatString) == ["SELF >= 1900", "SELF <= 2100"])
        #expect(attributes["plays"]?.isOptional == true)
        #expect(attributes["plays"]?.defaultValue as? Int64 == 0)
        #expect(attributes["genre"]?.type == .string)
        #expect(attributes["genre"]?.defaultValue as? String == "folk")
        #expect(attributes["mood"]?.isOptional == true)
        #expect(attributes["reviews"]?.type == .binaryData)
        #expect(attributes["reviews"]?.defaultValue as? Data == Data("[]".utf8))
        #expect(attributes["tags"]?.type == .transformable)
        #expect(attributes["tags"]?.valueTransformerName == "Tags")
        #expect(attributes["tags"]?.attributeValueClassName == "[String]")
        #expect(attributes["cover"] == nil)
        #expect(attributes["image"]?.allowsExternalBinaryDataStorage == true)
        #expect((attributes["trackCount"] as? NSDerivedAttributeDescription)?.derivationExpression?.description == "tracks.@count")
        #expect(attributes["isPlaying"]?.isTransient == true)
        #expect(attributes["player"]?.type == .undefined)
        #expect(attributes["trackCount"]?.isOptional == true)
        #expect(["cache", "lazily", "shared", "shout"].allSatisfy { album.propertiesByName[$0] == nil })
    }

    @Test func whatIsSaidOfAClassReachesTheModel() throws {
        let model = try NSManagedObjectModel(for: Album.self)
        let album = try entity(Album.self, in: model)
        #expect(album.name == "Record")
        #expect(album.renamingIdentifier == "LP")
        #expect(album.userInfo as? [String: String] == ["path": "/albums"])
        #expect(album.uniquenessConstraints as? [[String]] == [["year", "title"]])
        #expect(album.superentity?.uniquenessConstraints as? [[String]] == [["code"]])
        #expect(album.superentity?.isAbstract == true)
        #expect(album.superentity?.versionHashModifier == "1")
        let index = try #require(album.indexes.first)
        #expect(index.name == "byYearTitleIndex")
        #expect(index.elements.map(\.propertyName) == ["year", "title"])
        #expect(index.elements.map(\.isAscending) == [false, true])
        #expect(index.partialIndexPredicate?.formatString == "year > 1900")
        #expect(model.entities(forConfigurationName: "Cache") == [album])
        let template = try #require(model.fetchRequestTemplate(forName: "Recent"))
        #expect(template.entityName == "Record")
        #expect(template.predicate?.formatString == "year >= $YEAR")
        #expect(template.fetchLimit == 2)
        let fetched = try #require(album.propertiesByName["sameYear"] as? NSFetchedPropertyDescription)
        #expect(fetched.fetchRequest?.entityName == "Record")
        #expect(fetched.fetchRequest?.fetchLimit == 5)
    }

    @Test func aCompositeIsMadeOfTheElementsOfItsStructure() throws {
        let model = try NSManagedObjectModel(for: Album.self)
        let album = try entity(Album.self, in: model)
        let shop = try #require(album.attributesByName["shop"] as? NSCompositeAttributeDescription)
        #expect(shop.elements.map(\.name) == ["city", "street", "number", "genre"])
        #expect(shop.elements.map(\.type) == [.string, .string, .integer32, .string])
        #expect(shop.elements.map(\.isOptional) == [false, true, false, true])
        #expect(shop.elements[0].defaultValue as? String == "Delft")
        #expect(shop.elements[2].validationPredicates.map(\.formatString) == ["SELF >= 0", "SELF <= 99999"])
    }

    @Test func theTypeOfAPropertyIsTheKindOfItsRelationship() throws {
        let model = try NSManagedObjectModel(for: Album.self)
        let relationships = try entity(Album.self, in: model).relationshipsByName
        #expect(relationships["band"]?.isToMany == false)
        #expect(relationships["band"]?.isOptional == false)
        #expect(relationships["band"]?.deleteRule == .denyDeleteRule)
        #expect(relationships["band"]?.inverseRelationship?.description == "Band.albums")
        #expect(relationships["tracks"]?.isOrdered == true)
        #expect(relationships["tracks"]?.deleteRule == .cascadeDeleteRule)
        #expect(relationships["tracks"]?.inverseRelationship?.description == "Track.album")
        #expect(relationships["singles"]?.isOrdered == false)
        #expect(relationships["singles"]?.isToMany == true)
        #expect(relationships["singles"]?.isOptional == true)
        #expect(relationships["singles"]?.inverseRelationship?.description == "Track.singleOf")
        let band = try entity(Band.self, in: model).relationshipsByName
        #expect(band["friends"]?.inverseRelationship === band["friends"])
        #expect(band["idol"]?.inverseRelationship == nil)
    }

    @Test func theModelMayBeChangedUntilItIsUsed() throws {
        let model = try NSManagedObjectModel(for: Node.self)
        model.versionIdentifiers = ["2"]
        model.entitiesByName["Node"]?.attributesByName["name"]?.defaultValue = "node"
        #expect(model.versionIdentifiers == ["2"])
        #expect(model.entitiesByName["Node"]?.attributesByName["name"]?.defaultValue as? String == "node")
        let another = try NSManagedObjectModel(for: Node.self)
        #expect(another.entitiesByName["Node"]?.attributesByName["name"]?.defaultValue as? String == "")
    }

    @Test func aContainerHasTheModelOfItsClasses() throws {
        let container = try NSPersistentContainer(name: "Nodes", for: Node.self)
        #expect(container.name == "Nodes")
        #expect(container.managedObjectModel.entities.map(\.name) == ["Node"])
    }
}
#endif
