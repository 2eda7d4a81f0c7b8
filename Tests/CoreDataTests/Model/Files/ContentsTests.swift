import CoreData
import TestSupport
import Testing

/// Models as XML: what each element and attribute becomes, and what is written.
struct ContentsTests {
    /// Everything that model files say, in one.
    static let everything = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" systemVersion="23F79" minimumToolsVersion="Automatic" sourceLanguage="Swift" usedWithCloudKit="YES" userDefinedModelVersionIdentifier="2.1">
            <entity name="Album" representedClassName="Album" parentEntity="Work" elementID="Record" syncable="YES" codeGenerationType="class" versionHashModifier="a">
                <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" spotlightIndexingEnabled="YES"/>
                <attribute name="identifier" attributeType="UUID" defaultValueString="6D2D9A9C-1F4C-4B3E-9B0C-7E8B0C0B7A11" usesScalarValueType="NO" preserveAfterDeletion="YES"/>
                <attribute name="link" optional="YES" attributeType="URI" defaultValueString="https://example.com/?a=1&amp;b=%22"/>
                <attribute name="mood" optional="YES" attributeType="Transformable" valueTransformerName="MoodTransformer" customClassName="Mood"/>
                <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
                <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="9.95"/>
                <attribute name="rating" optional="YES" attributeType="Integer 16" minValueString="0" maxValueString="5" defaultValueString="3" usesScalarValueType="YES" indexed="YES"/>
                <attribute name="released" optional="YES" attributeType="Date" minDateTimeInterval="-63114076800" maxDateTimeInterval="700000000.5" defaultDateTimeInterval="31556952" usesScalarValueType="NO" allowsCloudEncryption="YES"/>
                <attribute name="seen" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
                <attribute name="sound" optional="YES" transient="YES" attributeType="Undefined"/>
                <attribute name="title" attributeType="String" minValueString="1" maxValueString="200" defaultValueString="&quot;Untitled&quot; &lt;&#10;" regularExpressionString="[A-Z].*" elementID="name" syncable="YES" versionHashModifier="b">
                    <userInfo>
                        <entry key="json" value="album_title"/>
                        <entry key="unit" value=""/>
                    </userInfo>
                </attribute>
                <attribute name="trackCount" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="tracks.@count" usesScalarValueType="YES"/>
                <attribute name="weight" optional="YES" attributeType="Float" defaultValueString="0.5" usesScalarValueType="YES"/>
                <relationship name="tracks" optional="YES" minCount="1" maxCount="99" toMany="YES" deletionRule="Cascade" ordered="YES" destinationEntity="Track" inverseName="album" inverseEntity="Track"/>
                <fetchedProperty name="similar" optional="YES">
                    <fetchRequest name="similarRequest" entity="Album" predicateString="rating == $FETCH_SOURCE.rating" fetchLimit="5"/>
                </fetchedProperty>
                <fetchIndex name="byRating" partialIndexPredicate="rating &gt; 2">
                    <fetchIndexElement property="rating" type="Binary" order="descending"/>
                    <fetchIndexElement expression="price + 1" expressionType="Decimal" type="Binary" order="ascending"/>
                </fetchIndex>
                <compoundIndexes>
                    <compoundIndex>
                        <index value="title"/>
                        <index value="rating"/>
                    </compoundIndex>
                </compoundIndexes>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="identifier"/>
                    </uniquenessConstraint>
                    <uniquenessConstraint>
                        <constraint value="title"/>
                        <constraint value="released"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo>
                    <entry key="path" value="/albums"/>
                </userInfo>
            </entity>
            <entity name="Track" representedClassName=".Track" coreSpotlightDisplayNameExpression="name" syncable="YES">
                <attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="album" maxCount="1" deletionRule="Deny" destinationEntity="Album" inverseName="tracks" inverseEntity="Album"/>
            </entity>
            <entity name="Work" isAbstract="YES" syncable="YES"/>
            <fetchRequest name="Best" entity="Album" predicateString="rating &gt;= $LEAST AND title CONTAINS &quot;a&quot;" fetchLimit="10" fetchOffset="2" fetchBatchSize="20" resultType="1" includeSubentities="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            <configuration name="Cache">
                <memberEntity name="Album"/>
                <memberEntity name="Track"/>
            </configuration>
            <composite name="Place">
                <attribute name="latitude" attributeType="Double" defaultValueString="0.0" usesScalarValueType="YES"/>
                <attribute name="name" optional="YES" attributeType="String"/>
            </composite>
            <elements>
                <element name="Album" positionX="0" positionY="-18" width="128" height="90"/>
            </elements>
        </model>
        """

    static func model() throws -> NSManagedObjectModel { try NSManagedObjectModel(modelContents: Data(everything.utf8)) }

    @Test func everythingIsWrittenBackByteForByte() throws {
        try expect(Self.model().xcdatamodelText, equals: Self.everything)
    }

    @Test func everyPartOfAnAttributeIsRead() throws {
        let album = try #require(Self.model().entitiesByName["Album"])
        let attributes = album.attributesByName
        let title = try #require(attributes["title"])
        expect(title.type, equals: .string)
        #expect(!title.isOptional)
        expect(title.defaultValue as? String, equals: "\"Untitled\" <\n")
        expect(title.renamingIdentifier, equals: "name")
        expect(title.versionHashModifier, equals: "b")
        expect(title.userInfo as? [String: String], equals: ["json": "album_title", "unit": ""])
        expect(title.modelFileAttributes, equals: ["syncable": "YES"])
        expect(title.validationPredicates.map(\.formatString), equals: ["length >= 1", "length <= 200", "SELF MATCHES \"[A-Z].*\""])
        expect(attributes["cover"]?.allowsExternalBinaryDataStorage, equals: true)
        expect(attributes["cover"]?.isIndexedBySpotlight, equals: true)
        expect(attributes["identifier"]?.defaultValue as? UUID, equals: UUID(uuidString: "6D2D9A9C-1F4C-4B3E-9B0C-7E8B0C0B7A11"))
        expect(attributes["identifier"]?.preservesValueInHistoryOnDeletion, equals: true)
        expect((attributes["link"]?.defaultValue as? URL)?.query, equals: "a=1&b=%22")
        expect(attributes["mood"]?.valueTransformerName, equals: "MoodTransformer")
        expect(attributes["mood"]?.attributeValueClassName, equals: "Mood")
        expect(attributes["price"]?.defaultValue as? Decimal, equals: Decimal(string: "9.95"))
        expect(attributes["rating"]?.defaultValue as? Int, equals: 3)
        expect(attributes["rating"]?.isIndexed, equals: true)
        expect(attributes["rating"]?.validationPredicates.map(\.formatString), equals: ["SELF >= 0", "SELF <= 5"])
        expect(attributes["rating"]?.modelFileAttributes, equals: ["usesScalarValueType": "YES"])
        expect(attributes["released"]?.defaultValue as? Date, equals: Date(timeIntervalSinceReferenceDate: 31_556_952))
        expect(attributes["released"]?.allowsCloudEncryption, equals: true)
        expect(attributes["seen"]?.defaultValue as? Bool, equals: false)
        expect(attributes["sound"]?.isTransient, equals: true)
        expect(attributes["weight"]?.defaultValue as? Float, equals: 0.5)
        let derived = try #require(attributes["trackCount"] as? NSDerivedAttributeDescription)
        expect(derived.derivationExpression, equals: NSExpression(format: "tracks.@count"))
        let place = try #require(attributes["place"] as? NSCompositeAttributeDescription)
        expect(place.type, equals: .composite)
        expect(place.elements.map(\.name), equals: ["latitude", "name"])
    }

    @Test func boundsOfDatesAreComparedAsDates() throws {
        let released = try #require(Self.model().entitiesByName["Album"]?.attributesByName["released"])
        let rules = released.validationPredicates
        expect(rules.count, equals: 2)
        #expect(try rules.allSatisfy { try $0.matches(Date(timeIntervalSinceReferenceDate: 0)) })
        #expect(try !rules[1].matches(Date(timeIntervalSinceReferenceDate: 700_000_001)))
    }

    @Test func entitiesRelationshipsAndRequestsAreRead() throws {
        let model = try Self.model()
        expect(model.versionIdentifiers, equals: ["2.1"])
        expect(model.modelFileAttributes["usedWithCloudKit"], equals: "YES")
        let album = try #require(model.entitiesByName["Album"])
        let track = try #require(model.entitiesByName["Track"])
        #expect(album.superentity === model.entitiesByName["Work"])
        expect(model.entitiesByName["Work"]?.isAbstract, equals: true)
        expect(album.managedObjectClassName, equals: "Album")
        expect(track.managedObjectClassName, equals: ".Track")
        expect(model.entitiesByName["Work"]?.managedObjectClassName, equals: "NSManagedObject")
        expect(album.renamingIdentifier, equals: "Record")
        expect(album.modelFileAttributes, equals: ["syncable": "YES", "codeGenerationType": "class"])
        expect(album.uniquenessConstraints as? [[String]], equals: [["identifier"], ["title", "released"]])
        expect(album.compoundIndexes as? [[String]], equals: [["title", "rating"]])
        expect(track.coreSpotlightDisplayNameExpression, equals: NSExpression(format: "name"))
        let tracks = try #require(album.relationshipsByName["tracks"])
        #expect(tracks.isToMany && tracks.isOrdered)
        #expect((tracks.minCount, tracks.maxCount) == (1, 99))
        expect(tracks.deleteRule, equals: .cascadeDeleteRule)
        #expect(tracks.destinationEntity === track)
        #expect(tracks.inverseRelationship === track.relationshipsByName["album"])
        #expect(track.relationshipsByName["album"]?.inverseRelationship === tracks)
        expect(track.relationshipsByName["album"]?.isToMany, equals: false)
        let index = try #require(album.indexes.first)
        #expect(index.entity === album)
        expect(index.partialIndexPredicate?.formatString, equals: "rating > 2")
        #expect(index.elements[0].property === album.propertiesByName["rating"])
        #expect(!index.elements[0].isAscending)
        expect((index.elements[1].property as? NSExpressionDescription)?.expressionResultType, equals: .decimalAttributeType)
        let best = try #require(model.fetchRequestTemplate(forName: "Best"))
        #expect(best.entity === album)
        #expect((best.fetchLimit, best.fetchOffset) == (10, 2))
        expect(best.resultType, equals: .managedObjectIDResultType)
        #expect(!best.includesSubentities && !best.returnsObjectsAsFaults && best.returnsDistinctResults)
        expect(best.predicate?.formatString, equals: "rating >= $LEAST AND title CONTAINS \"a\"")
        let similar = try #require(album.propertiesByName["similar"] as? NSFetchedPropertyDescription)
        #expect(similar.fetchRequest?.entity === album)
        expect(model.entities(forConfigurationName: "Cache")?.map(\.name), equals: ["Album", "Track"])
    }

    @Test func aModelThatWasReadRunsInACoordinator() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let track = context.insert("Track")
            let album = context.insert("Album", ["title": "Aerial", "place": ["latitude": 1.5]])
            track.setValue(album, forKey: "album")
            expect(album.value(forKey: "rating") as? Int, equals: 3)
            try context.save()
            try expect(context.all("Album").first?.value(forKey: "place") as? [String: Double], equals: ["latitude": 1.5])
        }
    }

    @Test func whatAFileSaysAndNobodyKnowsIsKept() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" novelty="1" userDefinedModelVersionIdentifier="">
                <entity name="A" colour="blue">
                    <attribute name="x" optional="YES" attributeType="String" shape="round">
                        <novelty of="attribute"/>
                    </attribute>
                    <novelty of="entity"/>
                </entity>
                <novelty of="model">text</novelty>
            </model>
            """
        let model = try NSManagedObjectModel(modelContents: Data(text.utf8))
        let written = model.xcdatamodelText
        for part in ["novelty=\"1\"", "colour=\"blue\"", "shape=\"round\"", "of=\"attribute\"", "of=\"entity\"", "of=\"model\">text<"] {
            #expect(written.contains(part))
        }
        #expect(try NSManagedObjectModel(modelContents: Data(written.utf8)).differences(from: model).isEmpty)
    }

    @Test func whatXMLHasNoWordsForIsAnErrorThatNamesThePlace() throws {
        func writing(_ change: (NSEntityDescription, NSAttributeDescription) -> Void) -> String {
            let attribute = NSAttributeDescription(name: "title", type: .string)
            let entity = NSEntityDescription(name: "Album", properties: [attribute])
            change(entity, attribute)
            let model = NSManagedObjectModel(entities: [entity])
            return failure { _ = try model.xcdatamodelContents() }?.localizedDescription ?? "no error"
        }
        #expect(
            writing { $1.userInfo = ["a": NSObject()] }.contains("Album.title: The user info “a” is neither a text nor a property list."))
        #expect(writing { entity, _ in entity.userInfo = ["a": [NSObject()]] }.contains("Album: The user info “a” is neither a text"))
        #expect(
            writing { entity, attribute in
                attribute.attributeType = .binaryDataAttributeType
                attribute.defaultValue = Data([1])
            }.contains("Album.title: A model file has no words for a default value of this type."))
        #expect(
            writing { $1.setValidationPredicates([NSPredicate(format: "SELF IN {'a', 'b'}")], withValidationWarnings: nil) }
                .contains("Album.title: A model file has no words for the validation predicate"))
        #expect(writing { entity, _ in entity.name = nil }.contains("It needs a name."))
    }

    @Test("User info that is a property list is written as text") func userInfoOfOtherTypes() throws {
        let entity = NSEntityDescription(name: "Album")
        entity.userInfo = [
            "number": 1, "flag": true,
            "com.apple.syncservices.AutomaticResolutionPolicy": ["PreferredRecord": "Truth", "Order": ["a", "b"]],
        ]
        let again = try NSManagedObjectModel(modelContents: NSManagedObjectModel(entities: [entity]).xcdatamodelContents())
        expect(
            again.entities[0].userInfo as? [String: String],
            equals: [
                "number": "1", "flag": "YES",
                "com.apple.syncservices.AutomaticResolutionPolicy": #"{"Order":["a","b"],"PreferredRecord":"Truth"}"#,
            ])
    }

    @Test("Bounds are written whatever form a compiled model has given them, with the codes that it says") func compiledBounds() throws {
        let title = NSAttributeDescription(name: "title", type: .string)
        title.setValidationPredicates(
            [NSPredicate(format: "SELF.length >= 1"), NSPredicate(format: "length <= 9")],
            withValidationWarnings: [NSNumber(value: NSValidationStringTooShortError), NSNumber(value: NSValidationStringTooLongError)])
        let year = NSAttributeDescription(name: "year", type: .integer16)
        year.setValidationPredicates(
            [NSPredicate(format: "SELF >= 1900")], withValidationWarnings: [NSNumber(value: NSValidationNumberTooSmallError)])
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Album", properties: [title, year])])
        for model in [model, try NSManagedObjectModel(compiledModel: model.compiledModel())] {
            let text = String(decoding: try model.xcdatamodelContents(), as: UTF8.self)
            for part in ["minValueString=\"1\"", "maxValueString=\"9\"", "minValueString=\"1900\""] {
                #expect(text.contains(part), "\(part)")
            }
        }
        year.setValidationPredicates([NSPredicate(format: "SELF >= 1900")], withValidationWarnings: ["Too early."])
        #expect(throws: NSError.self) {
            try NSManagedObjectModel(entities: [NSEntityDescription(name: "Album", properties: [year])]).xcdatamodelContents()
        }
    }
}
