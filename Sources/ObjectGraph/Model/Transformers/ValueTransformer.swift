public import Foundation
internal import Platform
internal import Predicates

/// The name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as a string.
    public let rawValue: String
    /// Creates a name from a string.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a name from a string.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }

    /// The name of ``NSSecureUnarchiveFromDataTransformer``.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")

    /// The name of the transformer of old models. An attribute with it is like one without a transformer: only values are read, and objects of the attribute's
    /// own class.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
}

/// Lets an initializer in an extension return the registered instance. Every ``ValueTransformer`` conforms; no other type should.
public protocol ValueTransformerFactory {}

/// Converts values, and converts them back if it supports that: between the value of a transformable attribute and the data in a store.
///
/// Foundation on Linux lacks the class; this one has the names and the behaviour of Apple's. Override ``transformedValue(_:)`` and
/// ``reverseTransformedValue(_:)``, and register an instance under the attribute's `valueTransformerName`.
///
/// Source: [ValueTransformer](https://developer.apple.com/documentation/foundation/valuetransformer).
open class ValueTransformer: NSObject, ValueTransformerFactory {
    /// Creates a transformer.
    public override init() { super.init() }

    /// Creates a transformer of the class on which this is called; see ``makeInstance()``.
    convenience init(ofDynamicClass: ()) { self.init() }

    /// Returns the class of the values that ``transformedValue(_:)`` returns.
    open class func transformedValueClass() -> AnyClass { NSObject.self }
    /// Returns whether ``reverseTransformedValue(_:)`` is supported. The default is true.
    open class func allowsReverseTransformation() -> Bool { true }

    /// Returns the transformed value. The default implementation returns the value itself.
    open func transformedValue(_ value: Any?) -> Any? { value }
    /// Returns the original of a transformed value. The default implementation calls ``transformedValue(_:)``.
    open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }

    /// Registers a transformer; nil unregisters the name. Call it on any thread; the instance must be usable on any thread too.
    open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        Transformers.shared[name] = transformer
    }

    /// Returns the names of the registered transformers.
    open class func valueTransformerNames() -> [NSValueTransformerName] { Transformers.shared.names }
}

extension ValueTransformer {
    /// Returns a new instance of the class, made by its override of the initializer without arguments.
    ///
    /// In Swift, a class that is known only at run time can only be instantiated by a required initializer, which each subclass would have to mark as
    /// such; Apple's is not required. The function is the allocating entry of `init(ofDynamicClass:)`, which calls `init()` through the class's
    /// method table. A class whose own initializers replace `init()` stops the program with Swift's message, as on Apple's platforms.
    @_silgen_name("$s11ObjectGraph16ValueTransformerC14ofDynamicClassACyt_tcfC")
    fileprivate final class func makeInstance() -> ValueTransformer
}

extension ValueTransformerFactory where Self: ValueTransformer {
    /// Returns the transformer registered under a name or, if there is none, a new one of the class with that name; nil without either.
    public init?(forName name: NSValueTransformerName) {
        guard let found = Transformers.shared[name] as? Self else { return nil }
        self = found
    }
}

/// Converts archives to the objects in them and back; used by transformable attributes without a transformer name.
///
/// Source: [NSSecureUnarchiveFromDataTransformer](https://developer.apple.com/documentation/foundation/nssecureunarchivefromdatatransformer).
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes allowed for the object of an archive and for those within it. The default is those of property lists.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self,
            NSNull.self,
        ]
    }

    /// Returns the object in an archive; nil for data that is not a sound archive, or contains an object of another class.
    ///
    /// Only objects of the allowed classes are instantiated, at every level, and values within them: those of property lists.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return (try? AttributeArchive.object(in: data, allowed: ArchiveClasses(allowed: Self.allowedTopLevelClasses))) ?? nil
    }

    /// Returns the archive of an object; nil for an object that cannot be archived, or is not of an allowed class.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return (try? AttributeArchive.archive(of: value, allowed: ArchiveClasses(allowed: Self.allowedTopLevelClasses))) ?? nil
    }
}

/// The registered transformers.
private final class Transformers: Sendable {
    static let shared = Transformers()
    private let transformers = LockedBox<[NSValueTransformerName: ValueTransformer]>([
        .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer()
    ])

    var names: [NSValueTransformerName] { transformers.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } } }

    subscript(name: NSValueTransformerName) -> ValueTransformer? {
        get {
            if let known = transformers.withLock({ $0[name] }) { return known }
            // Foundation prints a complaint about a text that cannot be the name of a class.
            guard name.rawValue.allSatisfy({ $0.isLetter || $0.isNumber || "._".contains($0) }), !name.rawValue.hasPrefix("."),
                !name.rawValue.hasSuffix("."), let found = NSClassFromString(name.rawValue) as? ValueTransformer.Type
            else { return nil }
            // Without the lock: the initializer is the program's own, and may look up other transformers.
            let made = found.makeInstance()
            return transformers.withLock { transformers in
                if let known = transformers[name] { return known }
                transformers[name] = made
                return made
            }
        }
        set {
            // The replaced one is released without the lock, for its deinitializer is the program's own.
            let old = transformers.withLock { transformers in
                defer { transformers[name] = newValue }
                return transformers[name]
            }
            withExtendedLifetime(old) {}
        }
    }
}
