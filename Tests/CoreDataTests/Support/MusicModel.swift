import CoreData

// The model most tests use: bands with albums with tracks, tags on albums, an ordered set list, and an inheritance of people.

class Band: NSManagedObject {
    static let nameProperty = ManagedProperty<String>("name")
    static let foundedProperty = ManagedProperty<Date?>("founded")
    static let albumsProperty = ManagedProperty<Set<Album>>("albums")
    var name: String {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var founded: Date? {
        get { self[Self.foundedProperty] }
        set { self[Self.foundedProperty] = newValue }
    }
    var albums: Set<Album> {
        get { self[Self.albumsProperty] }
        set { self[Self.albumsProperty] = newValue }
    }
}

final class Album: NSManagedObject {
    static let titleProperty = ManagedProperty<String>("title")
    static let yearProperty = ManagedProperty<Int16>("year")
    static let ratingProperty = ManagedProperty<Double?>("rating")
    static let bandProperty = ManagedProperty<Band?>("band")
    static let tracksProperty = ManagedProperty<NSOrderedSet?>("tracks")
    static let tagsProperty = ManagedProperty<Set<Tag>>("tags")
    var title: String {
        get { self[Self.titleProperty] }
        set { self[Self.titleProperty] = newValue }
    }
    var year: Int16 {
        get { self[Self.yearProperty] }
        set { self[Self.yearProperty] = newValue }
    }
    var rating: Double? {
        get { self[Self.ratingProperty] }
        set { self[Self.ratingProperty] = newValue }
    }
    var band: Band? {
        get { self[Self.bandProperty] }
        set { self[Self.bandProperty] = newValue }
    }
    var tracks: NSOrderedSet? {
        get { self[Self.tracksProperty] }
        set { self[Self.tracksProperty] = newValue }
    }
    var tags: Set<Tag> {
        get { self[Self.tagsProperty] }
        set { self[Self.tagsProperty] = newValue }
    }
}

final class Tag: NSManagedObject {
    static let labelProperty = ManagedProperty<String?>("label")
    var label: String? {
        get { self[Self.labelProperty] }
        set { self[Self.labelProperty] = newValue }
    }
}

enum Music {
    /// A model of its own for each call, so that tests share nothing.
    static func model() -> NSManagedObjectModel {
        let band = NSEntityDescription(name: "Band", managedObjectClass: Band.self)
        let album = NSEntityDescription(name: "Album", managedObjectClass: Album.self)
        let track = NSEntityDescription(name: "Track")
        let tag = NSEntityDescription(name: "Tag", managedObjectClass: Tag.self)
        let duo = NSEntityDescription(name: "Duo", managedObjectClass: Band.self)

        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true, deleteRule: .cascadeDeleteRule)
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        albums.inverse(to: albumBand)
        let tracks = NSRelationshipDescription(
            name: "tracks", destination: track, toMany: true, isOrdered: true, deleteRule: .cascadeDeleteRule)
        let trackAlbum = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: trackAlbum)
        let tags = NSRelationshipDescription(name: "tags", destination: tag, toMany: true)
        let tagged = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        tags.inverse(to: tagged)
        let hit = NSRelationshipDescription(name: "hit", destination: track)
        let hitOf = NSRelationshipDescription(name: "hitOf", destination: album)
        hit.inverse(to: hitOf)
        let guests = NSRelationshipDescription(name: "guests", destination: band, toMany: true, deleteRule: .denyDeleteRule)
        let guestOn = NSRelationshipDescription(name: "guestOn", destination: track, toMany: true)
        guests.inverse(to: guestOn)

        band.properties = [
            NSAttributeDescription(name: "name", type: .string, isOptional: false),
            NSAttributeDescription(name: "founded", type: .date),
            albums, guestOn,
        ]
        duo.properties = [NSAttributeDescription(name: "second", type: .string)]
        band.subentities = [duo]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string, isOptional: false, defaultValue: "Untitled"),
            NSAttributeDescription(name: "year", type: .integer16, defaultValue: 2001),
            NSAttributeDescription(name: "rating", type: .double),
            albumBand, tracks, tags, hit,
        ]
        track.properties = [
            NSAttributeDescription(name: "title", type: .string),
            NSAttributeDescription(name: "seconds", type: .integer32, isOptional: false, defaultValue: 0),
            trackAlbum, hitOf, guests,
        ]
        tag.properties = [NSAttributeDescription(name: "label", type: .string), tagged]
        return NSManagedObjectModel(entities: [band, duo, album, track, tag])
    }

    static func coordinator() throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return coordinator
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    static func context() throws -> NSManagedObjectContext { context(try coordinator()) }
}
