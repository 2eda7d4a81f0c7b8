import CoreData
import Foundation
import TestSupport
import Testing

@testable import ObjectGraph

/// An error about many objects has all of them, and a message that a person can read.
@Suite struct LongErrorTests {
    private static let count = 500

    private func check(_ error: NSError?, _ code: Int) throws {
        let error = try #require(error)
        expect(error.code, equals: code)
        let lines = error.localizedDescription.split(separator: "\n")
        #expect(lines.count < 25, "\(lines.count) lines")
        #expect(lines.contains { $0.hasPrefix("and \(Self.count - 20) more") }, "\(lines.last ?? "")")
    }

    @Test func manyValuesThatAreNotUniqueAreCounted() throws {
        let name = NSAttributeDescription(name: "name", type: .string)
        let entity = NSEntityDescription(name: "Tag", properties: [name])
        entity.uniquenessConstraints = [["name"]]
        let pad = try Scratchpad()
        let model = NSManagedObjectModel(entities: [entity])
        let context = try pad.context(model)
        try context.performAndWait {
            for round in 0..<2 {
                for number in 0..<Self.count {
                    NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("\(number)", forKey: "name")
                }
                if round == 0 { try context.save() }
            }
            let error = failure { try context.save() }
            try check(error, NSManagedObjectConstraintMergeError)
            expect((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any])?.count, equals: Self.count)
        }
    }

    @Test func manyViolatedRulesAreCounted() throws {
        let name = NSAttributeDescription(name: "name", type: .string, isOptional: false)
        let pad = try Scratchpad()
        let context = try pad.context(NSManagedObjectModel(entities: [NSEntityDescription(name: "Tag", properties: [name])]))
        try context.performAndWait {
            for _ in 0..<Self.count { _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context) }
            let error = failure { try context.save() }
            try check(error, NSValidationMultipleErrorsError)
            expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count, equals: Self.count)
        }
    }

    @Test func manyObjectsThatOthersHaveChangedAreCounted() throws {
        let name = NSAttributeDescription(name: "name", type: .string)
        let pad = try Scratchpad()
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Tag", properties: [name])])
        let (first, second) = (try pad.context(model), try pad.context(model))
        try first.performAndWait {
            for _ in 0..<Self.count { _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: first) }
            try first.save()
        }
        func rename(_ context: NSManagedObjectContext, _ name: String, between body: () throws -> Void = {}) throws {
            try context.performAndWait {
                for tag in try context.all("Tag") { tag.setValue(name, forKey: "name") }
                try body()
                try context.save()
            }
        }
        let error = failure { try rename(first, "a") { try rename(second, "b") } }
        try check(error, NSManagedObjectMergeError)
    }
}
