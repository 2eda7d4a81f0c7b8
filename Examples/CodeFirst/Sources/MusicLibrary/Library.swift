public import CoreDataMacros

@ManagedObject(.abstract, .index("searchTitle"), .configuration("Library"))
public class MediaItem: NSManagedObject {
    @Attribute(.required) public var id: UUID
    @Attribute(.length(1...)) public var title: String = "Untitled"
    @Attribute(.range(0...5)) public var rating: Int16 = 0
    @Attribute(.derived(from: "canonical:(title)")) public var searchTitle: String?
    public var isFavorite: Bool = false
    public var addedAt: Date?

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
        addedAt = Date()
    }
}

@ManagedObject(
    .index(.descending("releaseDate")), .configuration("Library"), .fetchRequest("AlbumsByArtist", where: "artist.name == $ARTIST"))
public final class Album: MediaItem {
    @Attribute(.range(0...)) public var price: Decimal? = 0
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) public var tags: [String]?
    @Attribute(.derived(from: "tracks.@count")) public var trackCount: Int64 = 0
    public var label: Label?
    public var releaseDate: Date?
    @Relationship(.required) public var artist: Artist?
    @Relationship(deleteRule: .cascade) public var tracks: [Track]
    public var genres: Set<Genre>
}

@Composite public struct Label {
    public var catalogNumber: String?
    public var name: String?
}

@ManagedObject(
    .index(.descending("playCount")), .configuration("Library"),
    .fetchRequest("FavoriteTracks", where: "isFavorite == 1", configure: { $0.fetchLimit = 100 }))
public final class Track: MediaItem {
    @Attribute(originalName: "length") public var duration: Double = 0
    @Attribute(.externalStorage) public var waveform: Data?
    @Transient(.optional) public var isPlaying: Bool
    public var location: URL?
    public var playCount: Int64 = 0
    public var trackNumber: Int32 = 0
    public var album: Album?
    public var playlists: Set<Playlist>
}

@ManagedObject(.configuration("Library"), userInfo: ["displayKey": "name"])
public final class Artist: NSManagedObject {
    @Attribute(.required, .unique, .length(1...)) public var name: String
    public var website: URL?
    @Relationship(deleteRule: .cascade) public var albums: Set<Album>
}

@ManagedObject(.configuration("Library"))
public final class Genre: NSManagedObject {
    @Attribute(.required, .unique) public var name: String
    public var albums: Set<Album>
}

@ManagedObject(.configuration("Library"))
public class Playlist: NSManagedObject {
    public enum Kind: Int16, ManagedValue { case regular, folder }

    public var name: String = "New Playlist"
    public var kind: Kind = .regular
    public var createdAt: Date?
    @Relationship public var tracks: [Track]

    public var totalDuration: TimeInterval { tracks.map(\.duration).reduce(0, +) }
}

@ManagedObject(.configuration("Library"))
public final class SmartPlaylist: Playlist {
    public var isLive: Bool = true
    public var rule: String?
}

@ManagedObject(.configuration("History"))
public final class PlaybackEvent: NSManagedObject {
    @Attribute(.required) public var trackID: UUID
    public var playedAt: Date = Date(timeIntervalSinceReferenceDate: 0)
    public var volume: Float?
    @FetchedProperty("id == $FETCH_SOURCE.trackID") public var tracks: [Track]
}
