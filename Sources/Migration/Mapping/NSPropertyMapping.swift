public import Foundation
public import Predicates

/// Describes how the value of a destination property is made from a source object.
///
/// Source: [NSPropertyMapping](https://developer.apple.com/documentation/coredata/nspropertymapping).
open class NSPropertyMapping: NSObject, NSCopying {
    /// The name of the property of the destination entity.
    open var name: String?

    /// The expression whose value the property gets; nil for a property that keeps its default value.
    ///
    /// The variables are `$manager`, `$source`, `$destination`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`. See the article
    /// *Mapping models* for the functions that it may call.
    open var valueExpression: Predicates.NSExpression?

    /// Information of the program.
    open var userInfo: [AnyHashable: Any]?

    /// A value that a mapping model file leaves to the tools: that of the source property of the same name, if there is one.
    struct Automatic: Equatable {
        /// The path from the source object, without `$source`; nil for the property of the same name.
        var path: [String]?
        /// The entity mapping that makes the objects of a relationship; nil for the one of the relationship's destination.
        var mappingName: String?
    }
    /// Set if the expression must still be made from two models.
    final var automatic: Automatic?
    /// Whether a source value of nil leaves the default value of a property that is not optional, as inferred mappings do.
    final var keepsDefaultForNil = false

    /// Creates a mapping without a name.
    public required override init() { super.init() }

    /// Creates the mapping of a property.
    ///
    /// - Parameters:
    ///   - name: The name of the property of the destination entity.
    ///   - valueExpression: The expression; nil for a property that keeps its default value.
    public convenience init(name: String, valueExpression: Predicates.NSExpression? = nil) {
        self.init()
        self.name = name
        self.valueExpression = valueExpression
    }

    /// Returns a copy.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        copy.name = name
        copy.valueExpression = valueExpression
        copy.userInfo = userInfo
        copy.automatic = automatic
        copy.keepsDefaultForNil = keepsDefaultForNil
        return copy
    }

    /// Returns whether both map the same property by equal expressions.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        return self === other
            || name == other.name && valueExpression == other.valueExpression && automatic == other.automatic
                && keepsDefaultForNil == other.keepsDefaultForNil && MappingInformation.equal(userInfo, other.userInfo)
    }

    /// The hash value, which is the same for equal mappings.
    open override var hash: Int { name.hashValue }

    /// The name and the expression.
    open override var description: String {
        "\(name ?? "?") = \(valueExpression?.description ?? (automatic == nil ? "default" : "automatic"))"
    }
}

/// Compares the information of the program in mappings.
enum MappingInformation {
    static func equal(_ left: [AnyHashable: Any]?, _ right: [AnyHashable: Any]?) -> Bool {
        NSDictionary(dictionary: left ?? [:]).isEqual(NSDictionary(dictionary: right ?? [:]))
    }
}
