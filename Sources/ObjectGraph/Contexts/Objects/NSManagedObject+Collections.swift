internal import CoreDataRuntime
public import Foundation
internal import Predicates

extension Sequence where Element: NSManagedObject {
    /// Returns the objects that match a predicate; their faults fire. Call it on the context's queue.
    ///
    /// Stops the program with a message if ``filtered(matching:)`` throws; Apple's framework raises an exception.
    public func filtered(using predicate: NSPredicate) -> [Element] {
        do { return try filtered(matching: predicate) } catch { stopProgram("\(error)") }
    }

    /// Returns the objects that match a predicate; their faults fire. Call it on the context's queue.
    ///
    /// - Throws: An error for a format that did not parse and for an unknown key; the error of a failing fault.
    public func filtered(matching predicate: NSPredicate) throws -> [Element] {
        uncheckedArray(try uncheckedArray(Array(self), of: NSManagedObject.self).matching(predicate), of: Element.self)
    }

    /// Returns the objects sorted by sort descriptors; their faults fire. Call it on the context's queue.
    ///
    /// The descriptors may name properties of the entity that the objects have in common.
    ///
    /// - Throws: An error for an unknown key; the error of a failing fault.
    public func sorted(using descriptors: [NSSortDescriptor]) throws -> [Element] {
        let objects = Array(self)
        guard let first = objects.first else { return [] }
        var shared = first.owningEntity
        for object in objects where !object.owningEntity.isKindOf(entity: shared) {
            while let above = shared.superentity, !object.owningEntity.isKindOf(entity: shared) { shared = above }
        }
        return try CompiledSort(descriptors, for: shared.frozen!.schema).sorted(objects)
    }
}

// Not generic: its callers are, and generic code is specialized for a class only if the class is known.
extension Array where Element == NSManagedObject {
    /// Returns the objects that match a predicate, each compiled once for each entity.
    fileprivate func matching(_ predicate: NSPredicate) throws -> [NSManagedObject] {
        var compiled: [UnsafeMutableRawPointer: CompiledPredicate] = [:]
        var found: [NSManagedObject] = []
        var start = 0
        while start < count {
            // Objects of one entity are mostly consecutive.
            let kind = UnsafeMutableRawPointer(self[start].places)
            let test = try compiled[kind] ?? predicate.compiled(for: self[start].owningEntity.frozenParts.schema)
            compiled[kind] = test
            start = try filterRun(from: start, of: kind, by: test, into: &found)
        }
        return found
    }

    /// Appends those objects of one entity that match a predicate to `found`.
    ///
    /// - Parameters:
    ///   - start: The index of the first object.
    ///   - kind: The places of the entity's properties, which every object of it has.
    ///   - test: The predicate.
    /// - Returns: The index of the first object of another entity, or the number of objects.
    private func filterRun(
        from start: Int, of kind: UnsafeMutableRawPointer, by test: CompiledPredicate, into found: inout [NSManagedObject]
    ) throws -> Int {
        for index in start..<count {
            // Objects and rows are separate in memory: both are prefetched. The array keeps the objects alive; retaining each would cost more
            // than the test.
            if index &+ 32 < count { coredata_prefetch(uncounted(index &+ 32).toOpaque()) }
            if index &+ 16 < count, let slots = uncounted(index &+ 16)._withUnsafeGuaranteedRef({ $0.slots }) {
                coredata_prefetch(slots)
                coredata_prefetch(slots + 64)
            }
            let object = uncounted(index)
            if UnsafeMutableRawPointer(object._withUnsafeGuaranteedRef { $0.places }) != kind { return index }
            if try test.matchesUnretained(try object._withUnsafeGuaranteedRef { try $0.subject() }) { found.append(self[index]) }
        }
        return count
    }
}

extension CompiledSort {
    /// Returns the objects in the order of the sort keys; their faults fire.
    func sorted<Object: NSManagedObject>(_ objects: [Object]) throws -> [Object] {
        let subjects = try objects.mapUncounted { try $0.subject() }
        return try withExtendedLifetime(objects) {
            objects.permuted(by: try sortedIndices(count: subjects.count) { subjects[$0] })
        }
    }
}
