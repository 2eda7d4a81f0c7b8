#if ManagedAccessors
import TestSupport

/// Makes random declarations: names with words that come again, every type that can be written, every place.
struct ZooKeeper {
    private var random: SeededGenerator
    private var classes: [String] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// What another module declares.
    static let other = """
        import Foundation
        public protocol Playable {}
        open class OtherAlbum: NSObject {
            public struct Info { public enum Deep: Int { case a } }
            public class Single: NSObject {}
            public typealias Short = Info
        }
        public enum Space { open class Track: NSObject {}; public struct Box<T> { public struct In {} } }
        """

    /// What every file of the zoo can use.
    static let common = """
        import Foundation
        @_exported import OtherZoo
        public enum Genre: Int16 { case jazz, rock }
        public struct Tag: Hashable { public enum Kind: String { case a } }
        public protocol Taggable: AnyObject {}
        public struct Pair<A, B> { public struct Both {} }
        public class Album: NSObject { public enum State: Int32 { case new }; public class Cover: NSObject {} }
        public typealias Tags = [Tag]
        public typealias MaybeAlbum = Album?
        public struct ZooOfTheTestsInfo {}
        """

    private static let words = [
        "album", "Album", "track", "Track", "artist", "Tag", "title", "URL", "ID", "x", "name", "Name", "count", "is", "zoo", "Zoo", "2",
        "_", "Tests",
        "Foundation", "class", "ZooOfTheTests", "Genre", "primitive", "of",
    ]

    private static let leaves = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt64", "Double", "Float", "String", "Substring", "Character",
        "Date",
        "Data", "UUID", "URL", "Decimal", "Locale", "TimeZone", "Calendar", "DateComponents", "DateInterval", "IndexPath", "IndexSet",
        "CharacterSet",
        "AttributedString", "URLComponents", "TimeInterval", "CGFloat", "CGPoint", "CGRect", "NSRange", "NSNumber", "NSDecimalNumber",
        "NSObject",
        "NSString", "NSData", "NSDate", "NSUUID", "NSURL", "NSSet", "NSOrderedSet", "NSMutableSet", "NSArray", "NSDictionary",
        "NSAttributedString",
        "NSError", "NSValue", "NSNull", "NSIndexSet", "NSPredicate", "NSSortDescriptor", "PersonNameComponents", "UnitLength",
        "Measurement<UnitLength>",
        "AnyHashable", "Any", "AnyObject", "any NSCoding", "any Error", "any Hashable", "any Sendable", "any Playable", "any Taggable",
        "any NSObjectProtocol", "Genre", "Tag", "Tag.Kind", "Album", "Album.State", "Album.Cover", "Tags", "MaybeAlbum", "OtherAlbum",
        "OtherAlbum.Info", "OtherAlbum.Info.Deep", "OtherAlbum.Single", "OtherAlbum.Short", "OtherZoo.OtherAlbum", "Space.Track",
        "Space.Box<Int>",
        "Space.Box<String>.In", "Pair<Int, String>.Both", "Foundation.Date", "Swift.String", "ZooOfTheTestsInfo", "ClosedRange<Int>",
        "Range<Double>",
    ]
    private static let hashable = [
        "String", "Int", "UUID", "Date", "URL", "Tag", "AnyHashable", "Genre", "NSNumber", "Album", "Space.Track",
    ]

    private mutating func type(depth: Int = 0) -> String {
        switch random.below(depth > 2 ? 1 : 12) {
        case 0, 1, 2, 3, 4: return leaf()
        case 5, 6: return optional(type(depth: depth + 1))
        case 7: return "[\(type(depth: depth + 1))]"
        case 8: return "[\(random.pick(Self.hashable)): \(type(depth: depth + 1))]"
        case 9: return "Set<\(random.pick(Self.hashable + classes))>"
        case 10: return "Pair<\(type(depth: depth + 1)), \(type(depth: depth + 1))>"
        default: return classes.isEmpty ? leaf() : optional(random.pick(classes))
        }
    }

    private mutating func leaf() -> String { random.pick(Self.leaves) }

    private func optional(_ type: String) -> String { type.hasPrefix("any ") ? "(\(type))?" : "\(type)?" }

    private mutating func name(_ prefix: String, _ number: Int) -> String {
        let count = 1 + random.below(4)
        return prefix + (0..<count).map { _ in random.pick(Self.words) }.joined() + "\(number)"
    }

    mutating func file(index: Int, classes count: Int) -> String {
        var text = "import Foundation\nimport OtherZoo\n"
        var uses: [String] = []
        for number in 0..<count {
            let place = index * 10 + number
            let name = name("K", place)
            let access = random.pick(["", "public ", "open ", "package "])
            let parent =
                classes.isEmpty || random.below(3) > 0 || access != "" ? "NSObject" : random.pick(classes.filter { !$0.contains(".") })
            text += "\(access)class \(name): \(parent) {\n"
            let nested = "N\(place)Inner"
            if random.below(3) == 0 {
                text += "    class \(nested): NSObject {\n        enum Mood: Int { case good }\n"
                text += members(of: "\(name).\(nested)", number: place * 100 + 50, extra: ["Mood", nested], access: [""], uses: &uses)
                text += "    }\n"
                if access != "public ", access != "open " { classes.append(name) }
            } else if access == "" || access == "package " {
                classes.append(name)
            }
            text += members(of: name, number: place * 100, extra: [name], access: ["", "final ", "private ", "fileprivate "], uses: &uses)
            text += "}\n"
            if random.below(3) == 0 {
                text += "extension \(name) {\n"
                text += members(of: name, number: place * 100 + 20, extra: [], access: [""], uses: &uses)
                text += "}\n"
            }
        }
        let elsewhere = random.pick(["OtherAlbum", "Space.Track", "OtherAlbum.Single"])
        text += "extension \(elsewhere) {\n"
        text += members(of: elsewhere, number: index * 1000 + 90000, extra: [], access: [""], uses: &uses)
        text += "}\npublic func useFile\(index)() -> [Any] {\n    [" + uses.joined(separator: ",\n    ") + "]\n}\n"
        return text
    }

    /// Members, and key paths to them and calls of them: what is not used, the compiler need not refer to.
    private mutating func members(of owner: String, number: Int, extra: [String], access: [String], uses: inout [String]) -> String {
        var text = ""
        for offset in 0..<4 {
            let name = name("p", number + offset)
            let modifier = random.pick(access)
            let type = extra.isEmpty || random.below(4) > 0 ? type() : optional(random.pick(extra))
            text += "    @NSManaged \(modifier)var \(name): \(type)\n"
            if modifier == "private " {
                // Seen in its own declaration only.
                text += "    final func use\(number + offset)() { let value = \(name); \(name) = value }\n"
                uses.append("{ (object: \(owner)) in object.use\(number + offset)() }")
            } else {
                uses.append("{ (object: \(owner)) in let value = object.\(name); object.\(name) = value }")
            }
        }
        let method = name("m", number + 9)
        let parameters = (0..<random.below(3)).map { _ in (label: random.pick(["_", "at", "with", "track"]), type: type()) }
        let list = parameters.enumerated().map { "\($1.label) a\($0): \($1.type)" }.joined(separator: ", ")
        let result = random.below(3) == 0 ? " -> \(type())" : ""
        let modifier = random.pick(access)
        text += "    @NSManaged \(modifier)func \(method)(\(list))\(result)\n"
        let arguments = parameters.enumerated().map { ($1.label == "_" ? "" : "\($1.label): ") + "a\($0)" }.joined(separator: ", ")
        let head = (["object: \(owner)"] + parameters.enumerated().map { "a\($0): \($1.type)" }).joined(separator: ", ")
        if modifier == "private " {
            text += "    final func call\(number)(\(head)) { _ = object.\(method)(\(arguments)) }\n"
            uses.append("{ (object: \(owner)) in object.call\(number) }")
        } else {
            uses.append("{ (\(head)) in _ = object.\(method)(\(arguments)) }")
        }
        return text
    }
}

extension SeededGenerator {
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
#endif
