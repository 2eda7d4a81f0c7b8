internal import Foundation

extension NSManagedObjectModel {
    /// Creates the model that classes declare: `NSManagedObjectModel(for: Album.self)`.
    ///
    /// The classes are marked `@ManagedObject` or override ``NSManagedObject/entityDeclaration``. Their superclasses, and the classes of
    /// their relationships and fetched properties, are included automatically; subclasses that no relationship refers to must be listed.
    /// The model is mutable until a coordinator uses it.
    ///
    /// - Parameter classes: The classes.
    /// - Throws: Code 134020 (`NSPersistentStoreIncompatibleSchemaError`) with every error: entity, property, and what to do.
    public convenience init(for classes: NSManagedObject.Type...) throws { try self.init(for: classes) }

    /// Creates the model that classes declare; see `init(for:)` with classes.
    public convenience init(for classes: [NSManagedObject.Type]) throws {
        self.init()
        var assembly = DeclarationAssembly()
        try assembly.fill(self, with: classes)
    }
}

extension NSPersistentContainer {
    /// Creates a container with the model that classes declare; see `NSManagedObjectModel(for:)` with classes.
    ///
    /// - Parameters:
    ///   - name: The name of the container.
    ///   - classes: The classes.
    /// - Throws: Code 134020 with every error of the declarations.
    public convenience init(name: String, for classes: NSManagedObject.Type...) throws {
        self.init(name: name, managedObjectModel: try NSManagedObjectModel(for: classes))
    }
}

/// Builds a model from the declarations of classes and collects their errors.
struct DeclarationAssembly {
    private struct Entity {
        let declaration: EntityDeclaration
        let description: NSEntityDescription
    }
    private struct End {
        let owner: ObjectIdentifier
        let declaration: PropertyDeclaration
        let description: NSRelationshipDescription
    }

    private var entities: [Entity] = []
    private var byClass: [ObjectIdentifier: NSEntityDescription] = [:]
    private var ends: [End] = []
    private var errors: [String] = []
    private var fits: [(NSPropertyDescription, PropertyDeclaration)] = []

    mutating func fill(_ model: NSManagedObjectModel, with classes: [NSManagedObject.Type]) throws {
        for objectClass in classes { add(objectClass, from: nil) }
        for entity in entities {
            if let parent = parent(of: entity.declaration.objectClass) { parent.subentities.append(entity.description) }
        }
        for entity in entities { makeProperties(of: entity) }
        model.entities = entities.map(\.description)
        connect()
        for entity in entities { applyOptions(of: entity) }
        for (description, declaration) in fits where !declaration.fits(description) {
            errors.append("“\(description)” cannot be read as its Swift type: the options give it another type in the model.")
        }
        for entity in entities { errors += errorsOfNames(in: entity.description) }
        setConfigurations(of: model)
        setTemplates(of: model)
        if errors.isEmpty { errors = ModelCheck.errors(of: model).map(\.message) }
        guard errors.isEmpty else {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "The classes declare no model that can be used.",
                reason: errors.joined(separator: " "), next: "Fix the declarations.")
        }
    }

    // MARK: Classes

    private mutating func add(_ objectClass: NSManagedObject.Type, from place: String?) {
        guard byClass[ObjectIdentifier(objectClass)] == nil else { return }
        guard let declaration = objectClass.entityDeclaration, declaration.objectClass == objectClass else {
            let mistake = "\(objectClass)\(place.map { ", where “\($0)” leads," } ?? "") declares no entity: mark the class @ManagedObject."
            if !errors.contains(mistake) { errors.append(mistake) }
            return
        }
        let description = NSEntityDescription(name: declaration.name, managedObjectClass: objectClass)
        description.renamingIdentifier = declaration.originalName
        description.versionHashModifier = declaration.hashModifier
        description.userInfo = declaration.userInfo
        byClass[ObjectIdentifier(objectClass)] = description
        entities.append(Entity(declaration: declaration, description: description))
        if let above = declaredSuperclass(of: objectClass) { add(above, from: nil) }
        for property in declaration.properties {
            if let destination = property.destination { add(destination, from: "\(declaration.name).\(property.name)") }
        }
    }

    /// Returns the nearest superclass that declares an entity; classes that only share code may be in between.
    private func declaredSuperclass(of objectClass: NSManagedObject.Type) -> NSManagedObject.Type? {
        var candidate: AnyClass? = _getSuperclass(objectClass)
        while let current = candidate as? NSManagedObject.Type, current != NSManagedObject.self {
            if current.entityDeclaration?.objectClass == current { return current }
            candidate = _getSuperclass(current)
        }
        return nil
    }

    private func parent(of objectClass: NSManagedObject.Type) -> NSEntityDescription? {
        declaredSuperclass(of: objectClass).flatMap { byClass[ObjectIdentifier($0)] }
    }

    // MARK: Properties

    private mutating func makeProperties(of entity: Entity) {
        var properties: [NSPropertyDescription] = []
        for declaration in entity.declaration.properties {
            do {
                let description = try declaration.made()
                properties.append(description)
                fits.append((description, declaration))
                if let relationship = description as? NSRelationshipDescription {
                    relationship.destinationEntity = declaration.destination.flatMap { byClass[ObjectIdentifier($0)] }
                    ends.append(
                        End(owner: ObjectIdentifier(entity.description), declaration: declaration, description: relationship))
                }
                if declaration.isUnique { entity.description.uniquenessConstraints.append([declaration.name]) }
            } catch let mistake as DeclarationMistake {
                errors.append("“\(entity.declaration.name).\(declaration.name)”: \(mistake.text)")
            } catch { errors.append("“\(entity.declaration.name).\(declaration.name)”: \(error)") }
        }
        entity.description.properties = properties
    }

    private mutating func applyOptions(of entity: Entity) {
        for option in entity.declaration.options {
            do { try option.apply(entity.description) } catch { errors.append("“\(entity.declaration.name)”: \(error)") }
        }
    }

    private func errorsOfNames(in entity: NSEntityDescription) -> [String] {
        let names = Set(entity.properties.map(\.name))
        let used =
            entity.indexes.flatMap(\.elements).filter { !($0.property is NSExpressionDescription) }.compactMap(\.propertyName)
            + entity.compoundIndexes.flatMap { NSEntityDescription.names(in: $0).compactMap { $0 } }
        return used.filter { !names.contains($0) }.map {
            "An index of “\(entity)” is over “\($0)”, which is not a property of it: write the name of one (\(names.sorted().joined(separator: ", ")))."
        }
    }

    private func setConfigurations(of model: NSManagedObjectModel) {
        var members: [String: [NSEntityDescription]] = [:]
        for entity in entities {
            for name in entity.declaration.options.compactMap(\.configuration) { members[name, default: []].append(entity.description) }
        }
        for (name, list) in members { model.setEntities(list, forConfigurationName: name) }
    }

    private mutating func setTemplates(of model: NSManagedObjectModel) {
        for entity in entities {
            for template in entity.declaration.options.compactMap(\.template) {
                let place = "fetch request “\(template.name)” of “\(entity.declaration.name)”"
                let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity.declaration.name)
                do { try template.configure(request) } catch { errors.append("The \(place): \(error)") }
                if model.fetchRequestTemplate(forName: template.name) != nil {
                    errors.append("The \(place): there is another of that name. Rename one.")
                }
                model.setFetchRequestTemplate(request, forName: template.name)
            }
        }
    }

    // MARK: Inverses

    private mutating func connect() {
        var claimed: [ObjectIdentifier: End] = [:]
        for end in ends {
            guard case .named(let name, let root) = end.declaration.inverse, let destination = end.description.destinationEntity else {
                continue
            }
            let place = "“\(end.description)”"
            guard let other = ends.first(where: { $0.declaration.swiftName == name && destination.properties.contains($0.description) })
            else {
                errors.append(
                    "The inverse of \(place) is to be “\(name)”, which is not a relationship of “\(destination)”: name one, or write inverse: nil."
                )
                continue
            }
            guard let leadsBack = leads(other, backTo: end), leadsBack, isOwner(root, of: other) else {
                errors.append(
                    "The inverse of \(place) is to be “\(other.description)”, which leads to “\(other.description.destinationEntity?.name ?? "?")”"
                        + " and not back to “\(end.description.entity?.name ?? "?")”: name the relationship of “\(destination)” that leads back."
                )
                continue
            }
            if let first = claimed[ObjectIdentifier(other.description)], first.description !== end.description {
                errors.append(
                    "“\(other.description)” is to be the inverse of both “\(first.description)” and \(place): name another for one of them."
                )
                continue
            }
            if case .named(let back, _) = other.declaration.inverse, back != end.declaration.swiftName {
                errors.append(
                    "The inverse of \(place) is to be “\(other.description)”, whose own inverse is to be “\(back)”: let the two name each other,"
                        + " or one of them only.")
                continue
            }
            if case .none = other.declaration.inverse {
                errors.append(
                    "The inverse of \(place) is to be “\(other.description)”, which says that it has none: take its inverse: nil away.")
                continue
            }
            claimed[ObjectIdentifier(other.description)] = end
            claimed[ObjectIdentifier(end.description)] = other
            end.description.inverse(to: other.description)
        }
        for end in ends where end.declaration.isSymmetric {
            guard end.description.destinationEntity === end.description.entity else {
                errors.append("“\(end.description)” leads to another entity and cannot be its own inverse: take .symmetric away.")
                continue
            }
            end.description.inverse(to: end.description)
        }
        for end in ends where end.description.inverseRelationship == nil { infer(end) }
    }

    private mutating func infer(_ end: End) {
        guard case .inferred = end.declaration.inverse, let destination = end.description.destinationEntity else { return }
        let back = candidates(for: end)
        let place = "“\(end.description)”"
        if back.count == 1, let other = back.first {
            let rivals = candidates(for: other)
            if rivals.count == 1 { return end.description.inverse(to: other.description) }
            // The competing relationships report it themselves.
            errors.append(
                "The inverse of \(place) is not clear: “\(other.description)” could as well be that of"
                    + " \(rivals.filter { $0.description !== end.description }.map { "“\($0.description)”" }.joined(separator: " and "))."
                    + " Write which it is: inverse: \\\(destination.name ?? "?").\(other.declaration.swiftName).")
        } else if back.isEmpty {
            errors.append(
                "\(place) has no inverse: add a relationship to “\(destination)” that leads back, name one with inverse:, or write"
                    + " @Relationship(inverse: nil) if there shall be none.")
        } else {
            errors.append(
                "The inverse of \(place) is not clear: \(back.map { "“\($0.description)”" }.joined(separator: " or ")). Write which it is:"
                    + " inverse: \\\(destination.name ?? "?").\(back[0].declaration.swiftName).")
        }
    }

    /// Returns the relationships of the destination that lead back and are not the inverse of another one.
    private func candidates(for end: End) -> [End] {
        guard let destination = end.description.destinationEntity else { return [] }
        return ends.filter { other in
            guard case .inferred = other.declaration.inverse, other.description.inverseRelationship == nil,
                other.description !== end.description, other.description.entity === destination
            else { return false }
            return other.description.destinationEntity === end.description.entity
        }
    }

    /// Returns whether a relationship leads to the entity of an end, or to a super- or subentity of it; nil if it has no destination.
    private func leads(_ other: End, backTo end: End) -> Bool? {
        guard let back = other.description.destinationEntity, let owner = end.description.entity else { return nil }
        return owner.isKindOf(entity: back) || back.isKindOf(entity: owner)
    }

    private func isOwner(_ root: any Any.Type, of other: End) -> Bool {
        guard let root = root as? NSManagedObject.Type, let entity = byClass[ObjectIdentifier(root)], let owner = other.description.entity
        else { return false }
        return entity.isKindOf(entity: owner)
    }
}
