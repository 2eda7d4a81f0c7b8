public import Foundation
internal import Logging
public import ObjectGraph

/// Describes how the objects of one version of a model become those of another.
///
/// Source: [NSMappingModel](https://developer.apple.com/documentation/coredata/nsmappingmodel).
open class NSMappingModel: NSObject, NSCopying {
    /// The entity mappings, in the order in which they are executed.
    open var entityMappings: [NSEntityMapping]! = []

    /// The entity mappings by name.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The outlines in a file of the models that it maps between.
    final var outlines: (source: ModelOutline, destination: ModelOutline)?

    /// Creates a mapping model without mappings.
    public required override init() { super.init() }

    /// Creates a mapping model of entity mappings.
    public convenience init(entityMappings: [NSEntityMapping]) {
        self.init()
        self.entityMappings = entityMappings
    }

    /// Finds the mapping model between two versions of a model.
    ///
    /// Mapping models are the `.xcmappingmodel`s in the bundles, and those that the plugin `ModelCompiler` has compiled into the program. If several
    /// fit, the first by name is used. A file that cannot be read is logged.
    ///
    /// - Parameters:
    ///   - bundles: The bundles to search; nil for those of the program.
    ///   - sourceModel: The model of the store.
    ///   - destinationModel: The model that the store is migrated to.
    /// - Returns: The mapping model; nil if there is none for both.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?, destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel,
            let found = MappingModelLocator.mappingModel(in: bundles, from: sourceModel, to: destinationModel)
        else { return nil }
        self.init(entityMappings: found.entityMappings)
        outlines = found.outlines
    }

    /// Reads a mapping model from a file: an `.xcmappingmodel`, or the `xcmapping.xml` in one. The reason of a failure is logged;
    /// ``init(reading:)-(URL)`` throws it.
    public convenience init?(contentsOf url: URL?) {
        guard let url else { return nil }
        do { try self.init(reading: url) } catch {
            Log.model.error("\(error.localizedDescription)")
            return nil
        }
    }

    /// Reads a mapping model from a file: an `.xcmappingmodel`, or the `xcmapping.xml` in one.
    ///
    /// - Throws: An error that names the file, the line and the problem; for a compiled `.cdm`, whose format Apple does not document, an error that
    ///   names the alternative.
    public convenience init(reading url: URL) throws {
        let file = try MappingModelFile.read(url)
        self.init(entityMappings: file.entityMappings)
        outlines = file.outlines
    }

    /// Reads a mapping model from the XML of an `.xcmappingmodel`, its `xcmapping.xml`.
    ///
    /// - Throws: An error that names the line and the problem.
    public convenience init(reading data: Data) throws {
        let file = try MappingModelFile.read(data, file: nil)
        self.init(entityMappings: file.entityMappings)
        outlines = file.outlines
    }

    /// Returns a copy, with copies of the mappings.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        copy.entityMappings = (entityMappings ?? []).map { $0.copy() as! NSEntityMapping }
        copy.outlines = outlines
        return copy
    }

    /// Returns whether both have equal mappings, in the same order.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return self === other || (entityMappings ?? []) == (other.entityMappings ?? [])
    }

    /// The hash value, which is the same for equal mapping models.
    open override var hash: Int { (entityMappings ?? []).map(\.name).hashValue }

    /// The entity mappings.
    open override var description: String { "Mapping model: " + (entityMappings ?? []).map(\.description).joined(separator: "; ") }
}

extension NSMappingModel {
    /// Returns whether an expression is missing that follows from the models.
    var isResolved: Bool { (entityMappings ?? []).allSatisfy { $0.propertyMappings.allSatisfy { $0.automatic == nil } } }

    /// Returns the same mapping model with the expressions that a file leaves to the tools, and with kinds and hashes of its entities.
    func resolved(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> NSMappingModel {
        if isResolved { return self }
        let copy = self.copy() as! NSMappingModel
        for mapping in copy.entityMappings {
            let sourceEntity = mapping.sourceEntityName.flatMap { source.entitiesByName[$0] }
            let destinationEntity = mapping.destinationEntityName.flatMap { destination.entitiesByName[$0] }
            for property in mapping.propertyMappings {
                guard let automatic = property.automatic else { continue }
                property.automatic = nil
                let isRelationship = mapping.relationshipMappings?.contains { $0 === property } ?? false
                property.valueExpression = copy.expression(
                    of: property, automatic, isRelationship: isRelationship, sourceEntity, destinationEntity)
            }
        }
        return copy
    }

    /// Returns the expression that Xcode makes: the source property of the same name, or the counterparts of its objects.
    private func expression(
        of property: NSPropertyMapping, _ automatic: NSPropertyMapping.Automatic, isRelationship: Bool, _ source: NSEntityDescription?,
        _ destination: NSEntityDescription?
    ) -> ValueExpression? {
        guard let source, let name = property.name else { return nil }
        let path = automatic.path ?? [name]
        guard let first = path.first, let start = source.propertiesByName[first] else { return nil }
        guard isRelationship else { return start is NSAttributeDescription || path.count > 1 ? MappingExpressions.path(path) : nil }
        let target = automatic.mappingName ?? mappingName(forRelationship: name, of: destination, path: path, from: source)
        return target.map { MappingExpressions.destinationInstances(of: $0, path: path) }
    }

    /// Returns the name of the entity mapping that makes the objects of a relationship.
    private func mappingName(
        forRelationship name: String, of destination: NSEntityDescription?, path: [String], from source: NSEntityDescription
    ) -> String? {
        guard let target = destination?.relationshipsByName[name]?.destinationEntity else { return nil }
        let targets = Set(target.allKinds.compactMap(\.name))
        let origin = path.reduce(source as NSEntityDescription?) { $0?.relationshipsByName[$1]?.destinationEntity }
        let origins = Set(origin?.allKinds.compactMap(\.name) ?? [])
        let candidates = entityMappings.filter { $0.destinationEntityName.map(targets.contains) ?? false && $0.sourceEntityName != nil }
        return (candidates.first { $0.sourceEntityName.map(origins.contains) ?? false } ?? candidates.first)?.name
    }
}
