import Foundation
import StoreLibrary

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
print(try savedNotes(at: folder.appendingPathComponent("notes.sqlite")))
try FileManager.default.removeItem(at: folder)
