internal import CoreDataRuntime
public import Foundation
internal import Predicates

extension Sequence where Element: NSManagedObject {
    /// Returns the objects that match a predicate; their faults fire. Call it on the context's queue.
    ///
    /// Stops the program with a message where ``filtered(matching:)`` throws; Apple's framework raises an exception.
    public func filtered(using predicate: NSPredicate) -> [Element] {
        do { return try filtered(matching: predicate) } catch { stopProgram("\(error)") }
    }

    /// Returns the objects that match a predicate; their faults fire. Call it on the context's queue.
    ///
    /// - Throws: An error for a format that did not parse and for an unknown key; the error of a failing fault.
    public func filtered(matching predicate: NSPredicate) throws -> [Element] {
        let objects = Array(self)
        guard let first = objects.first else { return [] }
        var compiled: [UnsafeMutableRawPointer: CompiledPredicate] = [:]
        // Objects of one entity are mostly consecutive.
        var kind = UnsafeMutableRawPointer(first.places)
        var test = try predicate.compiled(for: first.owningEntity.frozen!.schema)
        compiled[kind] = test
        var found: [Element] = []
        defer { withExtendedLifetime(compiled) {} }
        try objects.withUnsafeBufferPointer { elements in
            // The array keeps the objects alive; retaining each would cost more than the test.
            let references = UnsafeRawPointer(elements.baseAddress.known("there is a first object")).assumingMemoryBound(
                to: Unmanaged<NSManagedObject>.self)
            for index in elements.indices {
                // Objects and rows are separate in memory: both are prefetched.
                if index + 32 < elements.count { coredata_prefetch(references[index + 32].toOpaque()) }
                if index + 16 < elements.count, let slots = references[index + 16]._withUnsafeGuaranteedRef({ $0.slots }) {
                    coredata_prefetch(slots)
                    coredata_prefetch(slots + 64)
                }
                let object = references[index]
                let own = UnsafeMutableRawPointer(object._withUnsafeGuaranteedRef { $0.places })
                if own != kind {
                    kind = own
                    test = try compiled[kind] ?? predicate.compiled(for: elements[index].owningEntity.frozen!.schema)
                    compiled[kind] = test
                }
                // Kept alive by `compiled`.
                if try test.matchesUnretained(try object._withUnsafeGuaranteedRef { try $0.subject() }) { found.append(elements[index]) }
            }
        }
        return found
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

extension CompiledSort {
    /// Returns the objects in the order of the sort keys; their faults fire.
    func sorted<Object: NSManagedObject>(_ objects: [Object]) throws -> [Object] {
        let subjects = try objects.mapUncounted { try $0.subject() }
        return try withExtendedLifetime(objects) {
            objects.permuted(by: try sortedIndices(count: subjects.count) { subjects[$0] })
        }
    }
}
