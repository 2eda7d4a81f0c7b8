import Bandcamp
import CoreData

/// Returns all attributes of an object as text.
func contents(_ object: NSManagedObject) -> String {
    object.entity.attributesByName.keys.sorted().map { "\($0): \(object.value(forKey: $0) ?? "nil")" }.joined(separator: "; ")
}

/// Walks from two bands to their albums and tracks, and from these back to the band. Returns what it has seen, a line for each object.
func walk(_ context: NSManagedObjectContext) throws -> [String] {
    var seen: [String] = []
    for band in try context.fetch(Band.self, NSPredicate(format: "name IN {'Rue Royale', 'Sideditch'}"), sortedBy: "name") {
        seen.append(contents(band))
        for album in band.discography.sorted(by: { $0.album_id < $1.album_id }) {
            seen.append(contents(album))
            for track in album.tracks.sorted(by: { $0.number < $1.number }) {
                seen.append(contents(track) + (track.album?.band?.name ?? "nobody"))
            }
        }
    }
    return seen
}
