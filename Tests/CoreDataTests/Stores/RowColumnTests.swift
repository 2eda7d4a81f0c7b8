import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

@Suite struct RowColumnTests {
    @Test func columnsReadAndSetWhatPropertiesDo() throws {
        NSPersistentStoreCoordinator.registerStoreClass(SaveRecorder.self, forStoreType: SaveRecorder.storeType)
        let attributes: [(String, NSAttributeDescription.AttributeType)] = [
            ("whole", .integer64), ("flag", .boolean), ("real", .double), ("day", .date), ("text", .string), ("bytes", .binaryData),
            ("uuid", .uuid),
        ]
        let parent = NSEntityDescription(name: "Parent", properties: attributes.map { NSAttributeDescription(name: $0, type: $1) })
        let next = NSRelationshipDescription(name: "next", destination: parent)
        next.inverse(to: next)
        parent.properties.append(next)
        let child = NSEntityDescription(name: "Child")
        parent.subentities = [child]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [parent, child]))
        let store = try coordinator.addPersistentStore(ofType: SaveRecorder.storeType, configurationName: nil, at: nil)
        let columns = Dictionary(uniqueKeysWithValues: child.storedColumns.map { ($0.property.name, $0) })
        let row = Row(store.objectID(for: child, number: 5), version: 1)
        let (day, uuid, id) = (Date(timeIntervalSinceReferenceDate: 7), UUID(), store.objectID(for: parent, number: 6))
        for name in columns.keys { #expect(row.isNil(columns[name]!)) }
        row.set(Int64(42), columns["whole"]!)
        row.set(Int64(1), columns["flag"]!)
        row.set(1.5, columns["real"]!)
        row.set(day, columns["day"]!)
        row.set("text", columns["text"]!)
        row.set(Data([1]), columns["bytes"]!)
        row.set(uuid, columns["uuid"]!)
        row.set(id, columns["next"]!)
        #expect(row.int64(columns["whole"]!) == 42 && row.int64(columns["flag"]!) == 1 && row.double(columns["real"]!) == 1.5)
        #expect(row.date(columns["day"]!) == day && row.string(columns["text"]!) == "text" && row.data(columns["bytes"]!) == Data([1]))
        #expect(row.uuid(columns["uuid"]!) == uuid && row.objectID(columns["next"]!) == id)
        expect(row.any(of: child.attributesByName["text"]!) as? String, equals: "text")
        row.set(nil as String?, columns["text"]!)
        #expect(row.string(columns["text"]!) == nil)
    }
}
