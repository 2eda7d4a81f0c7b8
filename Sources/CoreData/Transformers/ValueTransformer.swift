public import Foundation

/// The name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as text.
    public let rawValue: String
    /// Makes a name of a text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes a name of a text.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }

    /// ``NSSecureUnarchiveFromDataTransformer``.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Lets an initializer in an extension answer with the instance that is registered. Every ``ValueTransformer`` conforms; nothing else should.
public protocol ValueTransformerFactory {}

/// Turns values into others and, if it can, back: between the value of a transformable attribute and the bytes that a store keeps.
///
/// Foundation on Linux has none; this one has the names and the behaviour of Apple's. Override ``transformedValue(_:)`` and
/// ``reverseTransformedValue(_:)``, and register an instance under the name that the attribute gives as its `valueTransformerName`.
///
/// Source: [ValueTransformer](https://developer.apple.com/documentation/foundation/valuetransformer).
open class ValueTransformer: NSObject, ValueTransformerFactory {
    /// Makes a transformer.
    public override required init() { super.init() }

    /// The class of the values that ``transformedValue(_:)`` answers.
    open class func transformedValueClass() -> AnyClass { NSObject.self }
    /// Whether ``reverseTransformedValue(_:)`` can be called. True unless overridden.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The value in its other form. The value itself unless overridden.
    open func transformedValue(_ value: Any?) -> Any? { value }
    /// What a value in its other form was made of. What ``transformedValue(_:)`` answers unless overridden.
    open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }

    /// Registers a transformer; nil takes the name away. May be called on any thread, as the instance must bear.
    open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        Transformers.shared[name] = transformer
    }

    /// The names under which transformers are registered.
    open class func valueTransformerNames() -> [NSValueTransformerName] { Transformers.shared.names }
}

extension ValueTransformerFactory where Self: ValueTransformer {
    /// The transformer that is registered under a name or, if none is, a new one of the class that has the name; nil without either.
    public init?(forName name: NSValueTransformerName) {
        guard let found = Transformers.shared[name] as? Self else { return nil }
        self = found
    }
}

/// Turns archives into the objects in them and back, as transformable attributes do that name no transformer.
///
/// Source: [NSSecureUnarchiveFromDataTransformer](https://developer.apple.com/documentation/foundation/nssecureunarchivefromdatatransformer).
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that the object at the top of an archive may have. Those of property lists unless overridden.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self,
            NSNull.self,
        ]
    }

    /// The object in an archive; nil for what is none, or holds an object of another class.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, let object = (try? SQLArchive.object(in: data)) ?? nil else { return nil }
        guard let stored = SQLArchive.archivable(object) as? NSObject else { return nil }
        return Self.allowedTopLevelClasses.contains { stored.isKind(of: $0) } ? object : nil
    }

    /// The archive of an object; nil for what cannot be archived.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value, let object = SQLArchive.archivable(value) else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
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
            // Foundation prints a complaint about what can be no name of a class.
            guard name.rawValue.allSatisfy({ $0.isLetter || $0.isNumber || "._".contains($0) }), !name.rawValue.hasPrefix("."),
                !name.rawValue.hasSuffix("."), let found = NSClassFromString(name.rawValue) as? ValueTransformer.Type
            else { return nil }
            // Without the lock: the initializer is the program's own, and may ask for other transformers.
            let made = found.init()
            return transformers.withLock { transformers in
                if let known = transformers[name] { return known }
                transformers[name] = made
                return made
            }
        }
        set { transformers.withLock { $0[name] = newValue } }
    }
}
