// Written by NSManagedObjectModel.swiftSource(functionName:).
// swift-format-ignore-file
import CoreData

extension NSManagedObjectModel {
    static func sample() -> NSManagedObjectModel {
        let album = NSEntityDescription(name: "Album")
        album.managedObjectClassName = "Album"
        album.renamingIdentifier = "Record"
        album.versionHashModifier = "a"
        album.userInfo = ["path": "/albums"]
        album.modelFileAttributes = ["codeGenerationType": "class", "syncable": "YES"]
        let album_cover = NSAttributeDescription(name: "cover", type: .binaryData)
        album_cover.allowsExternalBinaryDataStorage = true
        album_cover.isIndexedBySpotlight = true
        let album_identifier = NSAttributeDescription(name: "identifier", type: .uuid, isOptional: false, defaultValue: UUID(uuidString: "6D2D9A9C-1F4C-4B3E-9B0C-7E8B0C0B7A11"))
        album_identifier.preservesValueInHistoryOnDeletion = true
        album_identifier.modelFileAttributes = ["usesScalarValueType": "NO"]
        let album_link = NSAttributeDescription(name: "link", type: .uri, defaultValue: URL(string: "https://example.com/?a=1&b=%22"))
        let album_mood = NSAttributeDescription(name: "mood", type: .transformable)
        album_mood.attributeValueClassName = "Mood"
        album_mood.valueTransformerName = "MoodTransformer"
        let album_place = NSCompositeAttributeDescription(name: "place", type: .composite)
        let album_place_latitude = NSAttributeDescription(name: "latitude", type: .double, isOptional: false, defaultValue: 0.0)
        album_place_latitude.modelFileAttributes = ["usesScalarValueType": "YES"]
        let album_place_name = NSAttributeDescription(name: "name", type: .string)
        album_place.elements = [album_place_latitude, album_place_name]
        album_place.modelFileAttributes = ["composite": "Place"]
        let album_price = NSAttributeDescription(name: "price", type: .decimal, defaultValue: Decimal(string: "9.95"))
        let album_rating = NSAttributeDescription(name: "rating", type: .integer16, defaultValue: 3)
        album_rating.isIndexed = true
        album_rating.modelFileAttributes = ["usesScalarValueType": "YES"]
        album_rating.setValidationPredicates([NSPredicate(format: "SELF >= 0"), NSPredicate(format: "SELF <= 5")], withValidationWarnings: nil)
        let album_released = NSAttributeDescription(name: "released", type: .date, defaultValue: Date(timeIntervalSinceReferenceDate: 31556952))
        album_released.allowsCloudEncryption = true
        album_released.modelFileAttributes = ["usesScalarValueType": "NO"]
        album_released.setValidationPredicates([NSPredicate(format: "SELF >= CAST(-63114076800.0, \"NSDate\")"), NSPredicate(format: "SELF <= CAST(700000000.5, \"NSDate\")")], withValidationWarnings: nil)
        let album_seen = NSAttributeDescription(name: "seen", type: .boolean, isOptional: false, defaultValue: false)
        album_seen.modelFileAttributes = ["usesScalarValueType": "YES"]
        let album_sound = NSAttributeDescription(name: "sound", type: .undefined)
        album_sound.isTransient = true
        let album_title = NSAttributeDescription(name: "title", type: .string, isOptional: false, defaultValue: "\"Untitled\" <\n")
        album_title.renamingIdentifier = "name"
        album_title.versionHashModifier = "b"
        album_title.userInfo = ["json": "album_title", "unit": ""]
        album_title.modelFileAttributes = ["syncable": "YES"]
        album_title.setValidationPredicates([NSPredicate(format: "length >= 1"), NSPredicate(format: "length <= 200"), NSPredicate(format: "SELF MATCHES \"[A-Z].*\"")], withValidationWarnings: nil)
        let album_trackCount = NSDerivedAttributeDescription(name: "trackCount", type: .integer64)
        album_trackCount.derivationExpression = CoreData.NSExpression(format: "tracks.@count")
        album_trackCount.modelFileAttributes = ["usesScalarValueType": "YES"]
        let album_weight = NSAttributeDescription(name: "weight", type: .float, defaultValue: Float(0.5))
        album_weight.modelFileAttributes = ["usesScalarValueType": "YES"]
        let album_tracks = NSRelationshipDescription()
        album_tracks.name = "tracks"
        album_tracks.minCount = 1
        album_tracks.maxCount = 99
        album_tracks.isOrdered = true
        album_tracks.deleteRule = .cascadeDeleteRule
        let album_similar = NSFetchedPropertyDescription()
        album_similar.name = "similar"
        let album_similarRequest = NSFetchRequest<any NSFetchRequestResult>(entityName: "Album")
        album_similarRequest.predicate = NSPredicate(format: "rating == $FETCH_SOURCE.rating")
        album_similarRequest.fetchLimit = 5
        album_similar.fetchRequest = album_similarRequest
        album_similar.modelFileAttributes = ["fetchRequestName": "similarRequest"]
        album.properties = [album_cover, album_identifier, album_link, album_mood, album_place, album_price, album_rating, album_released, album_seen, album_sound, album_title, album_trackCount, album_weight, album_tracks, album_similar]
        album.uniquenessConstraints = [["identifier"], ["title", "released"]]
        album.compoundIndexes = [["title", "rating"]]
        let albumIndexElement = NSFetchIndexElementDescription(property: album_rating, collationType: .binary)
        albumIndexElement.isAscending = false
        let albumExpression = NSExpressionDescription()
        albumExpression.expression = CoreData.NSExpression(format: "price + 1")
        albumExpression.expressionResultType = .decimalAttributeType
        let albumIndexElement2 = NSFetchIndexElementDescription(property: albumExpression, collationType: .binary)
        let albumIndex = NSFetchIndexDescription(name: "byRating", elements: [albumIndexElement, albumIndexElement2])
        albumIndex.partialIndexPredicate = NSPredicate(format: "rating > 2")
        album.indexes.append(albumIndex)
        let track = NSEntityDescription(name: "Track")
        track.managedObjectClassName = ".Track"
        track.coreSpotlightDisplayNameExpression = CoreData.NSExpression(format: "name")
        track.modelFileAttributes = ["syncable": "YES"]
        let track_name = NSAttributeDescription(name: "name", type: .string)
        let track_album = NSRelationshipDescription()
        track_album.name = "album"
        track_album.maxCount = 1
        track_album.isOptional = false
        track_album.deleteRule = .denyDeleteRule
        track.properties = [track_name, track_album]
        let work = NSEntityDescription(name: "Work")
        work.isAbstract = true
        work.modelFileAttributes = ["syncable": "YES"]
        work.subentities = [album]
        album_tracks.destinationEntity = track
        album_tracks.inverseRelationship = track_album
        track_album.destinationEntity = album
        track_album.inverseRelationship = album_tracks
        let model = NSManagedObjectModel(entities: [album, track, work])
        model.versionIdentifiers = ["2.1"]
        model.modelFileAttributes = ["documentVersion": "1.0", "lastSavedToolsVersion": "22758", "minimumToolsVersion": "Automatic", "sourceLanguage": "Swift", "systemVersion": "23F79", "type": "com.apple.IDECoreDataModeler.DataModel", "usedWithCloudKit": "YES"]
        model.setEntities([album, track], forConfigurationName: "Cache")
        let bestRequest = NSFetchRequest<any NSFetchRequestResult>(entityName: "Album")
        bestRequest.predicate = NSPredicate(format: "rating >= $LEAST AND title CONTAINS \"a\"")
        bestRequest.fetchLimit = 10
        bestRequest.fetchOffset = 2
        bestRequest.fetchBatchSize = 20
        bestRequest.resultType = NSFetchRequestResultType(rawValue: 1)
        bestRequest.includesSubentities = false
        bestRequest.includesPropertyValues = false
        bestRequest.returnsObjectsAsFaults = false
        bestRequest.returnsDistinctResults = true
        model.setFetchRequestTemplate(bestRequest, forName: "Best")
        return model
    }
}
