import CoreData

@objc(Playlist)
public class Playlist: NSManagedObject {

    public enum Kind: Int16 {
        case regular, folder
    }

    @NSManaged public var name: String
    @NSManaged public var createdAt: Date?
    @NSManaged private var kind: Int16
    @NSManaged public var tracks: NSOrderedSet?

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        createdAt = Date()
    }

    public var playlistKind: Kind {
        get { return Kind(rawValue: kind) ?? .regular }
        set { kind = newValue.rawValue }
    }
}

extension Playlist {

    @objc(insertObject:inTracksAtIndex:)
    @NSManaged public func insertIntoTracks(_ value: Track, at idx: Int)

    @objc(removeObjectFromTracksAtIndex:)
    @NSManaged public func removeFromTracks(at idx: Int)

    @objc(addTracksObject:)
    @NSManaged public func addToTracks(_ value: Track)

    @objc(removeTracksObject:)
    @NSManaged public func removeFromTracks(_ value: Track)
}

extension Playlist {

    public var totalDuration: TimeInterval {
        return tracks?.array.compactMap { ($0 as? Track)?.duration }.reduce(0, +) ?? 0
    }
}
