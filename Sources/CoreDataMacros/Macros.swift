#if Macros
@_exported public import CoreData

/// Declares the entity of a subclass of `NSManagedObject` in the class.
///
/// ```swift
/// @ManagedObject final class Album: NSManagedObject {
///     var title: String = ""
///     var released: Date?
///     @Relationship(deleteRule: .cascade) var tracks: Set<Track>
/// }
/// ```
///
/// Every stored `var` with a type becomes a property of the entity: an attribute, or a relationship where the type consists of managed
/// objects. `@Attribute`, `@Relationship`, `@Transient` and `@FetchedProperty` specify further settings; `@Ignored` excludes a property;
/// computed, static and lazy properties are ignored. The accessors read and write by index, as fast as generated ones.
///
/// The class also gets `fetchRequest()` and the conformance to `Identifiable`; for each to-many relationship `addToTracks(_:)` and
/// `removeFromTracks(_:)`; and for an ordered one `insertIntoTracks(_:at:)`, `replaceTracks(at:with:)` and `removeFromTracks(at:)`.
///
/// A class may inherit from another marked class; its entity then inherits too. Create the model with `NSManagedObjectModel(for:)`.
///
/// - Parameters:
///   - options: The options of the entity: `.abstract`, `.unique("title", "year")`, `.index("year")`, `.configuration("Cache")`.
///   - originalName: The name of the entity in an earlier version of the model.
///   - hashModifier: A string that is included in the version hash.
///   - userInfo: Custom information about the entity.
@attached(member, names: arbitrary)
@attached(memberAttribute)
@attached(extension, conformances: Identifiable)
public macro ManagedObject(
    _ options: EntityOption..., originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "ManagedObjectMacro")

/// Works like ``ManagedObject(_:originalName:hashModifier:userInfo:)``, for an entity with another name than its class.
@attached(member, names: arbitrary)
@attached(memberAttribute)
@attached(extension, conformances: Identifiable)
public macro ManagedObject(
    _ name: String, _ options: EntityOption..., originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "ManagedObjectMacro")

/// Specifies the settings of an attribute of an `@ManagedObject` class: `@Attribute(.unique, .length(1...40)) var code: String = ""`.
///
/// - Parameters:
///   - options: The options of the attribute.
///   - name: The name in the model, if it differs from the one in Swift.
///   - originalName: The name in an earlier version of the model.
///   - hashModifier: A string that is included in the version hash.
///   - userInfo: Custom information about the attribute.
@attached(accessor)
public macro Attribute(
    _ options: AttributeOption..., name: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "AttributeMacro")

/// Declares a transient attribute: it is kept in the context, with change tracking and undo, and never stored. Otherwise works like
/// ``Attribute(_:name:originalName:hashModifier:userInfo:)``.
@attached(accessor)
public macro Transient(
    _ options: AttributeOption..., name: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "AttributeMacro")

/// Specifies the settings of a relationship of an `@ManagedObject` class: `@Relationship(deleteRule: .cascade, inverse: \Track.album) var
/// tracks: Set<Track>`.
///
/// The type determines the kind: `Track?` is to-one, `Set<Track>` to-many, `[Track]` ordered to-many. The inverse is named at one end at
/// most (the compiler reports a second one as a circular reference), and at neither where only one relationship leads back. A
/// relationship that is its own inverse is `.symmetric`; one without an inverse has `inverse: nil`.
///
/// - Parameters:
///   - options: The options of the relationship.
///   - deleteRule: The delete rule.
///   - inverse: The inverse relationship, as a key path of the destination class.
///   - name: The name in the model, if it differs from the one in Swift.
///   - originalName: The name in an earlier version of the model.
///   - hashModifier: A string that is included in the version hash.
///   - userInfo: Custom information about the relationship.
@attached(accessor)
public macro Relationship(
    _ options: RelationshipOption..., deleteRule: NSDeleteRule = .nullify, inverse: AnyKeyPath? = nil, name: String? = nil,
    originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "RelationshipMacro")

/// Declares a fetched property of an `@ManagedObject` class: `@FetchedProperty("rating == $FETCH_SOURCE.rating") var similar: [Album]`.
///
/// - Parameters:
///   - predicate: The format of the predicate, in which `$FETCH_SOURCE` is the object of the property; nil for all objects.
///   - isOptional: Whether the property is optional in the model.
///   - name: The name in the model, if it differs from the one in Swift.
///   - originalName: The name in an earlier version of the model.
///   - hashModifier: A string that is included in the version hash.
///   - userInfo: Custom information about the property.
///   - configure: Sets further properties of the request, such as its limit.
@attached(accessor)
public macro FetchedProperty(
    _ predicate: String? = nil, isOptional: Bool = true, name: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:], configure: ((NSFetchRequest<any NSFetchRequestResult>) -> Void)? = nil
) = #externalMacro(module: "CoreDataMacroPlugin", type: "FetchedPropertyMacro")

/// Excludes a stored property of an `@ManagedObject` class from the model. The property must have an initial value or be optional.
@attached(peer)
public macro Ignored() = #externalMacro(module: "CoreDataMacroPlugin", type: "MarkMacro")

/// Makes a structure a composite attribute: `@Composite struct Place { var latitude: Double = 0; var name: String? }`.
///
/// Each stored `var` becomes an element, an attribute in the model. `@Element` specifies further settings.
@attached(extension, conformances: CompositeValue, names: arbitrary)
@attached(member, names: arbitrary)
public macro Composite() = #externalMacro(module: "CoreDataMacroPlugin", type: "CompositeMacro")

/// Specifies the settings of an element of a `@Composite` structure, like ``Attribute(_:name:originalName:hashModifier:userInfo:)`` of an
/// attribute.
@attached(peer)
public macro Element(
    _ options: AttributeOption..., name: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "MarkMacro")
#else
@_exported public import CoreData

// The trait is off, and the macros with it: a program that uses one is told how to enable it. A declaration needs an implementation that the compiler finds;
// it has this one itself, and nothing is ever expanded.

/// Makes a subclass of ``NSManagedObject`` declare its own entity. Needs the package's trait `Macros`.
@available(*, unavailable, message: "Enable the trait of the package OpenCoreData: .package(url: …, from: …, traits: [\"Macros\"])")
@attached(member, names: arbitrary)
public macro ManagedObject(_ options: Any...) = #externalMacro(module: "SwiftMacros", type: "OptionSetMacro")

/// Makes a structure the value of a composite attribute. Needs the package's trait `Macros`.
@available(*, unavailable, message: "Enable the trait of the package OpenCoreData: .package(url: …, from: …, traits: [\"Macros\"])")
@attached(member, names: arbitrary)
public macro Composite() = #externalMacro(module: "SwiftMacros", type: "OptionSetMacro")
#endif
