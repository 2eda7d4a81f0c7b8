#if Macros
@_exported public import CoreData

/// Makes a subclass of ``NSManagedObject`` declare its own entity.
///
/// ```swift
/// @ManagedObject final class Album: NSManagedObject {
///     var title: String = ""
///     var released: Date?
///     @Relationship(deleteRule: .cascade) var tracks: Set<Track>
/// }
/// ```
///
/// Every stored `var` with a type becomes a property of the entity: an attribute, or a relationship where the type is that of managed
/// objects. `@Attribute`, `@Relationship`, `@Transient` and `@FetchedProperty` say more of one; `@Ignored` leaves one out; computed, static
/// and lazy properties are left alone. The accessors read and write by index, as fast as generated ones.
///
/// Besides, the class gets `fetchRequest()`, the conformance to `Identifiable`, and for each to-many relationship `addToTracks(_:)` and
/// `removeFromTracks(_:)`, and for an ordered one `insertIntoTracks(_:at:)`, `replaceTracks(at:with:)` and `removeFromTracks(at:)`.
///
/// A class may inherit from another that is marked, as its entity does then. Make the model with `NSManagedObjectModel(for:)`.
///
/// - Parameters:
///   - options: what the entity is besides: `.abstract`, `.unique("title", "year")`, `.index("year")`, `.configuration("Cache")`.
///   - originalName: the name of the entity in an earlier version of the model.
///   - hashModifier: text that goes into its version hash.
///   - userInfo: free information about it.
@attached(member, names: arbitrary)
@attached(memberAttribute)
@attached(extension, conformances: Identifiable)
public macro ManagedObject(
    _ options: EntityOption..., originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "ManagedObjectMacro")

/// As ``ManagedObject(_:originalName:hashModifier:userInfo:)``, for an entity that is called otherwise than its class.
@attached(member, names: arbitrary)
@attached(memberAttribute)
@attached(extension, conformances: Identifiable)
public macro ManagedObject(
    _ name: String, _ options: EntityOption..., originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "ManagedObjectMacro")

/// Says more of an attribute of an `@ManagedObject` class: `@Attribute(.unique, .length(1...40)) var code: String = ""`.
///
/// - Parameters:
///   - options: what it is besides its type and default.
///   - name: its name in the model, where that is another than in Swift.
///   - originalName: its name in an earlier version of the model.
///   - hashModifier: text that goes into its version hash.
///   - userInfo: free information about it.
@attached(accessor)
public macro Attribute(
    _ options: AttributeOption..., name: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "AttributeMacro")

/// A transient attribute: it lives in the context, takes part in change tracking and undo, and is never handed to a store. Otherwise as
/// ``Attribute(_:name:originalName:hashModifier:userInfo:)``.
@attached(accessor)
public macro Transient(
    _ options: AttributeOption..., name: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "AttributeMacro")

/// Says more of a relationship of an `@ManagedObject` class: `@Relationship(deleteRule: .cascade, inverse: \Track.album) var tracks: Set<Track>`.
///
/// The type says which kind it is: `Track?` is to-one, `Set<Track>` to-many, `[Track]` ordered to-many. The inverse is named
/// at one end at most (the compiler calls a second one a circular reference), and not at all where only one relationship leads back. A
/// relationship that is its own inverse is `.symmetric`, one without an inverse says `inverse: nil`.
///
/// - Parameters:
///   - options: what it is besides.
///   - deleteRule: what happens to the objects at the other end when the object at this end is deleted.
///   - inverse: the relationship back, as a key path that begins with the class at the other end.
///   - name: its name in the model, where that is another than in Swift.
///   - originalName: its name in an earlier version of the model.
///   - hashModifier: text that goes into its version hash.
///   - userInfo: free information about it.
@attached(accessor)
public macro Relationship(
    _ options: RelationshipOption..., deleteRule: NSDeleteRule = .nullify, inverse: AnyKeyPath? = nil, name: String? = nil,
    originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "RelationshipMacro")

/// A fetched property of an `@ManagedObject` class: `@FetchedProperty("rating == $FETCH_SOURCE.rating") var similar: [Album]`.
///
/// - Parameters:
///   - predicate: which objects; `$FETCH_SOURCE` is the object that has the property. All where there is none.
///   - isOptional: whether the model says that it may be nil.
///   - name: its name in the model, where that is another than in Swift.
///   - originalName: its name in an earlier version of the model.
///   - hashModifier: text that goes into its version hash.
///   - userInfo: free information about it.
///   - configure: sets what else there is to the request, such as its limit.
@attached(accessor)
public macro FetchedProperty(
    _ predicate: String? = nil, isOptional: Bool = true, name: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:], configure: ((NSFetchRequest<any NSFetchRequestResult>) -> Void)? = nil
) = #externalMacro(module: "CoreDataMacroPlugin", type: "FetchedPropertyMacro")

/// Leaves a stored property of an `@ManagedObject` class out of the model. It needs an initial value, or to be optional.
@attached(peer)
public macro Ignored() = #externalMacro(module: "CoreDataMacroPlugin", type: "MarkMacro")

/// Makes a structure a composite attribute: `@Composite struct Place { var latitude: Double = 0; var name: String? }`.
///
/// Each stored `var` becomes an element: an attribute of its own in the model. `@Element` says more of one.
@attached(extension, conformances: CompositeValue, names: arbitrary)
@attached(member, names: arbitrary)
public macro Composite() = #externalMacro(module: "CoreDataMacroPlugin", type: "CompositeMacro")

/// Says more of an element of a `@Composite` structure, as ``Attribute(_:name:originalName:hashModifier:userInfo:)`` does of an attribute.
@attached(peer)
public macro Element(
    _ options: AttributeOption..., name: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacroPlugin", type: "MarkMacro")
#else
@_exported public import CoreData

// The trait is off, and the macros with it: a program that uses one is told how to enable it.

/// Makes a subclass of ``NSManagedObject`` declare its own entity. Needs the package's trait `Macros`.
@available(*, unavailable, message: "Enable the trait of the package OpenCoreData: .package(url: …, from: …, traits: [\"Macros\"])")
@attached(member, names: arbitrary)
public macro ManagedObject(_ options: Any...) = #externalMacro(module: "CoreDataMacroPlugin", type: "ManagedObjectMacro")

/// Makes a structure the value of a composite attribute. Needs the package's trait `Macros`.
@available(*, unavailable, message: "Enable the trait of the package OpenCoreData: .package(url: …, from: …, traits: [\"Macros\"])")
@attached(member, names: arbitrary)
public macro Composite() = #externalMacro(module: "CoreDataMacroPlugin", type: "CompositeMacro")
#endif
