import CoreData

@objc(Album)
public class Album: MediaItem {

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        tags = []
    }

    public override func validateForInsert() throws {
        try super.validateForInsert()
        if let count = tags?.count, count > 10 {
            throw NSError(domain: "MusicLibrary", code: 1, userInfo: [NSLocalizedDescriptionKey: "An album has at most ten tags."])
        }
    }
}

extension Album {

    /// The tracks in order.
    public var orderedTracks: [Track] {
        return tracks?.array as? [Track] ?? []
    }

    public var duration: TimeInterval {
        return orderedTracks.reduce(0) { $0 + $1.duration }
    }
}
