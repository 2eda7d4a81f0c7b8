import Foundation
import TestSupport
import Testing

@testable import Predicates

/// What is long instead of deep: key paths, archives; and keys that name nothing.
@Suite struct LimitTests {
    private static let long = Array(repeating: "a", count: 20_000).joined(separator: ".")

    @Test func aKeyPathWithTooManyKeysIsAnErrorWhereverItComesFrom() throws {
        let long = Self.long
        let fits = Array(repeating: "a", count: PredicateLimits.nesting).joined(separator: ".")
        _ = try PredicateTree(parsing: "\(fits) == 1").compiled(for: PlainSchema.shared)
        let attempts: [() throws -> Void] = [
            { _ = try PredicateTree(parsing: "\(long) == 1") }, { _ = try PredicateTree(parsing: "SELF.\(long) == 1") },
            { _ = try PredicateTree(parsing: "%K == 1", argumentArray: [long]) },
            { _ = try PredicateTree.compare(.path(long), .equal, .constant(.int64(1))).compiled(for: PlainSchema.shared) },
            { _ = try CompiledKeyPath(.path(long), for: PlainSchema.shared) },
            { _ = try CompiledSort([NSSortDescriptor(key: long, ascending: true)], for: PlainSchema.shared) },
        ]
        for (number, attempt) in attempts.enumerated() {
            let error = try #require(throws: InvalidPredicateError.self, "\(number)") { try attempt() }
            #expect(error.kind == .tooDeep && error.message.contains("keys, and may have 100"), "\(number): \(error.message.prefix(200))")
            #expect(error.message.utf8.count < 1000, "\(number)")
        }
    }

    @Test func anArchiveOfManyComparisonsIsWrittenAndRead() throws {
        // An archiver that compares each object with those before it would take minutes.
        let tree = PredicateTree.or(
            (0..<4_000).map { .compare(.path("key\($0 % 7)"), $0 % 2 == 0 ? .equal : .lessThan, .constant(.int64(Int64($0)))) })
        let data = try PredicateArchive.data(of: NSPredicate(tree: tree))
        try expect(PredicateArchive.predicate(from: data).tree(), equals: tree)
    }

    @Test func aSortDescriptorWithAnEmptyKeyIsAnError() throws {
        let descriptor = NSSortDescriptor(key: "", ascending: true)
        expect(descriptor.key, equals: "")
        let error = try #require(throws: InvalidPredicateError.self) { try CompiledSort([descriptor], for: PlainSchema.shared) }
        #expect(error.message.contains("empty key"), "\(error)")
        #expect(throws: InvalidPredicateError.self) { _ = try descriptor.storeOrder() }
        _ = try CompiledSort([NSSortDescriptor(key: nil, ascending: true)], for: PlainSchema.shared)
    }

    @Test(
        "The empty text is in no text",
        arguments: ["BEGINSWITH", "ENDSWITH", "CONTAINS"], ["", "[c]", "[d]", "[cd]"])
    func theEmptyTextIsInNone(operation: String, options: String) throws {
        for text in ["", "abc", "ą"] {
            let predicate = NSPredicate(format: "SELF \(operation)\(options) %@", "")
            #expect(!predicate.evaluate(with: text))
            #expect(NSPredicate(format: "NOT SELF \(operation)\(options) %@", "").evaluate(with: text))
            // Prepared for a store that matches bytes.
            let prepared = try TextPattern(
                operation == "CONTAINS" ? .contains : operation == "ENDSWITH" ? .endsWith : .beginsWith, "", [], clause: "")
            let isFound = try Array(text.utf8).withUnsafeBufferPointer { try prepared.matches($0) }
            #expect(!isFound)
        }
        #expect(NSPredicate(format: "'' IN %@", ["", "a"]).evaluate(with: nil))
    }

    private class Animal: NSObject {}
    private final class Cat: Animal {}

    @Test func objectsAreComparedByTheirClass() throws {
        let animals = [Animal(), Cat()]
        expect(animals.filtered(using: NSPredicate(format: "self isKindOfClass: %@", Cat.self)).count, equals: 1)
        expect(animals.filtered(using: NSPredicate(format: "SELF isKindOfClass: %@", Animal.self)).count, equals: 2)
        expect(animals.filtered(using: NSPredicate(format: "self isMemberOfClass: %@", Animal.self)).count, equals: 1)
        expect(animals.filtered(using: NSPredicate(format: "NOT (self isKindOfClass: %@)", Cat.self)).count, equals: 1)
        let values: [Any] = ["a", 1, Date()]
        expect(values.filtered(using: NSPredicate(format: "self isKindOfClass: %@", NSString.self)).count, equals: 1)
        let predicate = NSPredicate(format: "self isKindOfClass: %@ AND a == 1", Cat.self)
        expect(predicate, equals: NSPredicate(format: "self isKindOfClass: %@ AND a == 1", Cat.self))
        #expect(predicate != NSPredicate(format: "self isKindOfClass: %@ AND a == 1", Animal.self))
        #expect(predicate.formatString.contains("isKindOfClass:"))
        let wrong = NSPredicate(format: "self isKindOfClass: %@", "Cat")
        #expect(throws: InvalidPredicateError.self) { try wrong.matches(Cat()) }
    }
}
