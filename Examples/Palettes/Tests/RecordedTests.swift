import CoreData
import ExampleSupport
import Foundation
import Palettes
import RemoteStore
import Testing
import WebBackend
import WebTransport

@Suite("COLOURlovers' own answer, where it is at hand", .enabled(if: RecordedAnswers.folder != nil)) struct RecordedTests {
    @Test("All values of all palettes are those that Foundation reads") func palettesOfTheService() throws {
        let file = try #require(RecordedAnswers.folder).appendingPathComponent("andyshep+Palettes/Palettes/palettes.json")
        let body = try Data(contentsOf: file)
        let sent = try #require(try JSONSerialization.jsonObject(with: body) as? [[String: Any]])
        let model = PaletteModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let address = try #require(URL(string: "http://www.colourlovers.com"))
        let transport = RecordedAnswers { _ in WebResponse(status: 200, body: Array(body)) }
        try coordinator.addRemoteStore(WebBackend(.palettes(at: address), model: model, transport: transport))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let found = try context.fetch(palettes())
            #expect(found.count == sent.count)
            for palette in found {
                let json = try #require(sent.first { ($0["id"] as? NSNumber)?.stringValue == palette.id })
                #expect(
                    palette.differences(from: json, at: ["name": "title", "username": "userName", "widths": "colorWidths"]) == [])
            }
        }
    }
}
