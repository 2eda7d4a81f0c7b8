internal import Foundation

/// The classes whose objects may be made from an archive.
struct ArchiveClasses {
    /// The classes of property lists, and other classes of mere values: creating one runs no code of the program.
    static let values: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
        NSUUID.self, NSNull.self,
    ]

    static let onlyValues = ArchiveClasses(allowed: values)

    /// The classes allowed for the object itself.
    let allowed: [AnyClass]
    /// The name of one more, which the module may precede.
    var allowedName: String?

    /// The classes allowed within an allowed object: the same ones, and values.
    var within: ArchiveClasses {
        ArchiveClasses(allowed: allowed + Self.values.filter { value in !allowed.contains { $0 == value } }, allowedName: allowedName)
    }

    /// Returns whether objects of a class may be made: of an allowed one, or of a subclass.
    ///
    /// A program's subclass of a value is not allowed with the value, but by its own name.
    func allow(_ type: AnyClass) -> Bool {
        let isOfProgram = !ArchiveDecoder.isOfFoundation(type)
        var next: AnyClass? = type
        while let current = next {
            if allowed.contains(where: { $0 == current }) || isNamed(current) { return true }
            next = _getSuperclass(current)
            if isOfProgram, let next, Self.values.contains(where: { $0 == next }) { return false }
        }
        return false
    }

    private func isNamed(_ type: AnyClass) -> Bool {
        guard let allowedName else { return false }
        let name = String(reflecting: type)
        return name == allowedName || name.hasSuffix("." + allowedName)
    }

    /// Returns the class of a name in an archive; nil if the program has none.
    ///
    /// Looking up a class runs none of its code.
    static func named(_ name: String) -> AnyClass? {
        if let known = NSKeyedUnarchiver.class(forClassName: name) { return known }
        // Foundation prints a complaint about a text that cannot be the name of a class.
        guard name.utf8.count <= 1000, let first = name.unicodeScalars.first, first.properties.isXIDStart || first == "_",
            name.unicodeScalars.allSatisfy({ $0.properties.isXIDContinue || $0 == "." }), !name.hasSuffix("."), !name.contains("..")
        else { return nil }
        return NSClassFromString(name)
    }
}

/// A class that an archive names and that may not be instantiated, or cannot be.
package struct ArchiveClassRefusal: Error, CustomStringConvertible {
    let className: String
    /// Whether the class is there, but not allowed.
    let isKnown: Bool

    package var description: String {
        isKnown
            ? "It contains an object of class \(className), which is not allowed there."
            : "It contains an object of class \(className), which the program does not have, or which cannot be decoded."
    }
}
