import Chosen
import CoreData
import Flat
import Foldered
import Foundation
import FoundationCompatibility
import Listed
import Queries
import UsersLibrary

typealias NSExpression = CoreData.NSExpression

enum Outer {
    final class Nested: NSManagedObject {}
}

guard let model = NSManagedObjectModel.mergedModel(from: Bundle.allBundles) else { fatalError("There is no model.") }
let container = NSPersistentContainer(name: "Music", managedObjectModel: model)
container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
container.loadPersistentStores { _, error in if let error { fatalError("\(error)") } }
let context = container.newBackgroundContext()
let lines = try context.performAndWait {
    autoreleasepool {
        let album = Album(title: "Low", in: context)
        print(album.title, album.year, album.origin, album.place())
        Album(title: "Ebb", in: context).year = 1999
        let entry = Entry(context: context)
        entry.mood = 1
        entry.text = "Sun"
    }
    try context.save()
    context.reset()
    let request = Album.anyRequest()
    request.sortDescriptors = [Queries.byTitle()]
    let albums = try context.fetch(request).compactMap { ($0 as? Album).map { "\($0.title) \($0.origin)" } }
    let typed: NSFetchRequest<Album> = Album.typedRequest()
    typed.predicate = Filter(\Album.year).predicate(1999)
    let entries = try context.fetch(NSFetchRequest<Entry>(entityName: "Entry")).map { "\($0.text ?? "") \($0.feeling)" }
    return albums + (try context.fetch(typed).map(\.title)) + entries
}
print(lines.joined(separator: ", "))
print(
    Plain.name, Keys.title, Filter(\Album.year).left.keyPath, NSStringFromClass(Outer.Nested.self),
    isKept(NSFetchRequest<Task>(entityName: "Task")))
