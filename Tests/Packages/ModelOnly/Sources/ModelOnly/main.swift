import CoreData
import Foundation

let container = NSPersistentContainer(name: "Notes")
container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
container.loadPersistentStores { _, error in if let error { fatalError("\(error)") } }
let context = container.viewContext
let note = Note(context: context)
note.text = "Buy milk"
note.id = UUID()
note.default = "none"
note.count = 3
// The types of scalar properties are those of the model.
let (rank, size): (Int64, Int32) = (.max, 2)
(note.rank, note.size) = (rank, size)
let reply = Reply(context: context)
note.addToReplies(reply)
reply.text = "Done"
try context.save()
context.reset()
let request: NSFetchRequest<Reply> = Reply.fetchRequest()
for reply in try context.fetch(request) {
    print(reply.note?.text ?? "", reply.text ?? "", reply.note?.replies?.count ?? 0, reply.note?.count ?? 0, reply.note?.id == nil)
}
print(Bundle.module.url(forResource: "Notes", withExtension: "momd") != nil)
