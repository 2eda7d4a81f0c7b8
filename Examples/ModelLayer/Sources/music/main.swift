import CoreData
import MusicLibrary

// Fills a library and asks it questions.
let persistence = try Persistence(inMemory: true)
let context = persistence.container.viewContext

let artist = Artist(context: context)
artist.name = "Kraftwerk"

let album = Album(context: context)
album.title = "Autobahn"
album.artist = artist
for (number, title) in ["Autobahn", "Kometenmelodie 1", "Kometenmelodie 2"].enumerated() {
    let track = Track(context: context)
    track.title = title
    track.trackNumber = Int32(number + 1)
    track.duration = Double(300 + 60 * number)
    album.addToTracks(track)
}
try context.save()

let request: NSFetchRequest<Track> = Track.fetchRequest()
request.predicate = NSPredicate(format: "album.artist.name == %@ AND duration > 320", "Kraftwerk")
request.sortDescriptors = [NSSortDescriptor(keyPath: \Track.trackNumber, ascending: true)]
for track in try context.fetch(request) {
    print("\(track.trackNumber). \(track.title ?? "") (\(track.formattedDuration)) on \(track.album?.title ?? "no album")")
}
