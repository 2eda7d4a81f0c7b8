package import CoreData
import Foundation

/// A save to tables of another program, and what the tables hold after it, in any database.
package struct TableCase: Sendable, CustomStringConvertible {
    package let description: String
    /// The statements that make the tables of a database.
    package let script: @Sendable (Database) -> String
    /// What is saved. Called on the queue of the context.
    package let change: @Sendable (NSManagedObjectContext) throws -> Void
    /// The rows after that: a query with one column, and its values as text.
    package let query: String
    package let expected: [String]

    /// A kind of database.
    package enum Database: Sendable { case sqlite, postgreSQL }

    init(
        _ description: String, _ script: @autoclosure @escaping @Sendable () -> String, query: String, expected: [String],
        change: @escaping @Sendable (NSManagedObjectContext) throws -> Void
    ) {
        self.init(description, { _ in script() }, query: query, expected: expected, change: change)
    }

    init(
        _ description: String, _ script: @escaping @Sendable (Database) -> String, query: String, expected: [String],
        change: @escaping @Sendable (NSManagedObjectContext) throws -> Void
    ) {
        (self.description, self.script, self.change) = (description, script, change)
        (self.query, self.expected) = (query, expected)
    }

    package static let all = deletions + uniqueness
}

extension NSManagedObjectContext {
    /// Returns the objects of an entity by the values of an attribute.
    func byValue<Value: Hashable>(_ entity: String, _ key: String) throws -> [Value: NSManagedObject] {
        let objects = try fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
        return Dictionary(
            objects.compactMap { object in (object.value(forKey: key) as? Value).map { ($0, object) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the objects of an entity by their `id`.
    func byID(_ entity: String) throws -> [Int: NSManagedObject] { try byValue(entity, "id") }

    @discardableResult func make(_ entity: String, _ values: [String: Any?]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }
}
