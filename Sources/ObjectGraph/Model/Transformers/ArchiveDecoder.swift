internal import Foundation
internal import PropertyLists

/// Decodes the objects of a keyed archive that is not trusted.
///
/// Foundation's unarchiver on Linux instantiates whatever class an archive names or, with secure coding, stops the program at a class that
/// is not allowed; damaged archives stop it or take it minutes. This decoder makes Foundation's values itself, and hands program classes
/// an ``ArchiveCoder``: each class is compared with the allowed ones before any of its code runs, at every level. An object that contains
/// itself, objects nested without end, and a small archive that expands to a large value are errors.
// Used by one thread, within one call of `object(in:allowed:)`, except by program classes that keep their coder.
final class ArchiveDecoder {
    typealias Mistake = BinaryPropertyList.FormatError

    /// The maximum number of levels.
    static let depthLimit = 100

    let archive: KeyedArchive
    /// The decoded objects and their sizes.
    private var decoded: [Int: (object: Any, size: Int)] = [:]
    /// The classes by name.
    private var classes: [String: AnyClass] = [:]
    /// The objects being decoded.
    private var open: Set<Int> = []
    /// The remaining budget. An object counts at each reference, so that comparing, hashing and printing the value take bounded time.
    private var budget: Int
    /// The first error of a program class's coder, which cannot throw.
    private(set) var failure: (any Error)?

    private init(_ archive: KeyedArchive) {
        self.archive = archive
        budget = archive.budget
    }

    /// Decodes the root object of an archive.
    ///
    /// - Parameter allowed: The classes that may be instantiated, at every level.
    /// - Throws: ``BinaryPropertyList/Mistake`` for a damaged archive and for data that is not an archive, ``ArchiveClassRefusal`` for a sound
    ///   archive with an object of another class.
    static func object(in data: Data, allowed: ArchiveClasses) throws -> Any? {
        let archive = try KeyedArchive(data)
        guard archive.rootIndex != 0 else { return nil }
        return try ArchiveDecoder(archive).object(archive.rootIndex, allowed)
    }

    // MARK: Objects

    /// Returns the object at an index, which is decoded once.
    func object(_ index: Int, _ allowed: ArchiveClasses) throws -> Any {
        if let failure { throw failure }
        guard archive.objects.indices.contains(index), index != 0 else {
            throw Mistake(reason: "An object refers to one that is not there.")
        }
        try spend(1)
        let node = archive.list.nodes[archive.objects[index]]
        if case .dictionary = node { return try instance(index, allowed) }
        return try value(of: node, allowed)
    }

    /// Returns a value that archives hold without a class.
    private func value(of node: BinaryPropertyList.Node, _ allowed: ArchiveClasses) throws -> Any {
        switch node {
        case .string(let text):
            try spend(text.utf8.count / 64)
            return try text.isEmpty ? only(NSString(), allowed) : only(NSString(string: text), allowed)
        case .bool(let flag): return try only(NSNumber(value: flag), allowed)
        case .integer(let number): return try only(NSNumber(value: number), allowed)
        case .unsigned(let number): return try only(NSNumber(value: number), allowed)
        case .real(let number): return try only(NSNumber(value: number), allowed)
        case .data(let data): return try only(NSData(data: data), allowed)
        case .date(let seconds): return try only(NSDate(timeIntervalSinceReferenceDate: seconds), allowed)
        case .null, .uid, .array, .dictionary: throw Mistake(reason: "It contains an object of an unknown kind.")
        }
    }

    private func only<Object: NSObject>(_ object: Object, _ allowed: ArchiveClasses) throws -> Object {
        guard allowed.allow(Object.self) else { throw ArchiveClassRefusal(className: "\(Object.self)", isKnown: true) }
        return object
    }

    /// Returns the object of a class.
    private func instance(_ index: Int, _ allowed: ArchiveClasses) throws -> Any {
        guard let object = archive.object(index) else { throw Mistake(reason: "Object \(index) has no class.") }
        let type: AnyClass = try type(named: object.className)
        // Before any member of the class is called, above all its initializer.
        guard allowed.allow(type) else { throw ArchiveClassRefusal(className: object.className, isKnown: true) }
        if let known = decoded[index] {
            try spend(known.size)
            return known.object
        }
        guard open.count < Self.depthLimit else { throw Mistake(reason: "Its objects are nested deeper than \(Self.depthLimit) levels.") }
        guard open.insert(index).inserted else { throw Mistake(reason: "Object \(index) contains itself.") }
        defer { open.remove(index) }
        let before = budget
        try spend(object.keys.count)
        let made = try make(type, object, allowed)
        decoded[index] = (made, before - budget)
        return made
    }

    private func type(named name: String) throws -> AnyClass {
        if let known = classes[name] { return known }
        guard let type = Self.foundation[name] ?? ArchiveClasses.named(name) else {
            throw ArchiveClassRefusal(className: name, isKnown: false)
        }
        classes[name] = type
        return type
    }

    private func make(_ type: AnyClass, _ object: KeyedArchive.Object, _ allowed: ArchiveClasses) throws -> Any {
        if Self.foundation[object.className] != nil { return try foundationObject(object, allowed.within) }
        var type: AnyClass = type
        if let substituting = type as? NSObject.Type { type = substituting.classForKeyedUnarchiver() }
        guard let coding = type as? any NSCoding.Type, Self.isSafe(type) else {
            throw ArchiveClassRefusal(className: object.className, isKnown: false)
        }
        let coder = ArchiveCoder(self, object, allowed)
        let made = coding.init(coder: coder)
        if let failure { throw failure }
        guard let made else { throw ArchiveClassRefusal(className: object.className, isKnown: false) }
        return made
    }

    /// Records the error of a coder; everything decoded afterwards is nil.
    func fail(_ error: any Error) {
        if failure == nil { failure = error }
    }

    func spend(_ amount: Int) throws {
        budget -= amount
        guard budget >= 0 else { throw Mistake(reason: "It contains a value that is much larger than the archive.") }
    }
}
