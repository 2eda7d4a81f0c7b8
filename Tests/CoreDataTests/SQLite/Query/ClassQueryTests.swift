import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

private class Shape: NSManagedObject {}
private class Polygon: Shape {}
private final class Square: Polygon {}

/// Predicates that both stores must answer alike: classes, the empty text, long key paths, empty sort keys.
@Suite struct ClassQueryTests {
    private static func contexts(_ pad: Scratchpad) throws -> [NSManagedObjectContext] {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        func model() -> NSManagedObjectModel {
            let next = NSRelationshipDescription()
            (next.name, next.maxCount, next.isOptional) = ("next", 1, true)
            let previous = NSRelationshipDescription()
            (previous.name, previous.maxCount, previous.isOptional) = ("previous", 0, true)
            let shape = NSEntityDescription(
                name: "Shape", managedObjectClass: Shape.self, properties: [attribute("name", .stringAttributeType), next, previous])
            let polygon = NSEntityDescription(name: "Polygon", managedObjectClass: Polygon.self, properties: [])
            let square = NSEntityDescription(name: "Square", managedObjectClass: Square.self, properties: [])
            polygon.subentities = [square]
            shape.subentities = [polygon]
            (next.destinationEntity, previous.destinationEntity) = (shape, shape)
            (next.inverseRelationship, previous.inverseRelationship) = (previous, next)
            return NSManagedObjectModel(entities: [shape, polygon, square])
        }
        let memory = NSPersistentStoreCoordinator(managedObjectModel: model())
        try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let contexts = [try pad.context(model()), Music.context(memory)]
        for context in contexts {
            try context.performAndWait {
                var last: NSManagedObject?
                for (entity, name) in [("Shape", "shape"), ("Polygon", "polygon"), ("Square", "square"), ("Shape", "")] {
                    let object = context.insert(entity, ["name": name])
                    object.setValue(last, forKey: "next")
                    last = object
                }
                _ = context.insert("Square")
                try context.save()
                context.reset()
            }
        }
        return contexts
    }

    @Test func storesAnswerAlikeWhatIsAskedOfClassesAndOfTheEmptyText() throws {
        let cases: [(String, [Any], [String])] = [
            ("self isKindOfClass: %@", [Shape.self], ["", "nil", "polygon", "shape", "square"]),
            ("self isKindOfClass: %@", [Polygon.self], ["nil", "polygon", "square"]),
            ("self isMemberOfClass: %@", [Polygon.self], ["polygon"]), ("self isKindOfClass: %@", [NSString.self], []),
            ("NOT (self isKindOfClass: %@)", [Polygon.self], ["", "shape"]),
            ("next isKindOfClass: %@", [Polygon.self], ["", "square"]), ("NOT (next isKindOfClass: %@)", [Polygon.self], ["polygon"]),
            ("ANY previous isKindOfClass: %@", [Square.self], ["polygon"]),
            ("SUBQUERY(previous, $p, $p isKindOfClass: %@).@count == 1", [Polygon.self], ["polygon", "shape"]),
            ("name BEGINSWITH %@", [""], []), ("name CONTAINS[cd] %@", [""], []), ("name ENDSWITH ''", [], []),
            ("NOT name CONTAINS ''", [], ["", "polygon", "shape", "square"]), ("name <= 5", [], []),
            ("NOT name <= 5", [], ["", "polygon", "shape", "square"]), ("name <= nil", [], []),
        ]
        let pad = try Scratchpad()
        for context in try Self.contexts(pad) {
            try context.performAndWait {
                for (format, arguments, names) in cases {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Shape")
                    request.predicate = NSPredicate(format: format, argumentArray: arguments)
                    let found = try context.fetch(request)
                    expect(found.map { $0.value(forKey: "name") as? String ?? "nil" }.sorted(), equals: names, "\(format)")
                    // Evaluated over the objects, the classes are the same.
                    guard format.contains("ofClass"), !format.contains("next"), !format.contains("ANY") else { continue }
                    request.predicate = nil
                    let matching = try context.fetch(request).filter {
                        NSPredicate(format: format, argumentArray: arguments).evaluate(with: $0)
                    }
                    expect(Set(matching), equals: Set(found), "\(format)")
                }
            }
        }
    }

    @Test func storesRefuseLongKeyPathsAndEmptySortKeys() throws {
        let pad = try Scratchpad()
        let long = Array(repeating: "next", count: 20_000).joined(separator: ".")
        for context in try Self.contexts(pad) {
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Shape")
                request.predicate = NSPredicate(format: "%K == nil", long)
                #expect(throws: (any Error).self) { try context.fetch(request) }
                request.predicate = nil
                for key in [long, ""] {
                    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
                    #expect(throws: (any Error).self, "\(key.prefix(10))") { try context.fetch(request) }
                }
                request.sortDescriptors = nil
                let object = try #require(try context.fetch(request).first)
                // A path through objects may be as long as its text.
                #expect(object.value(forKeyPath: long) == nil)
                object.setValue("x", forKeyPath: long + ".name")
            }
        }
    }
}
