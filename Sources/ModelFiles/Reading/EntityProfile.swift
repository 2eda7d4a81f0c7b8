package import Foundation
package import ObjectGraph
internal import Platform
internal import Predicates
internal import PropertyLists

/// The facts about one entity in a version of a model that distinguish versions and determine which migrations are possible: names, a hash, and the
/// traits of each property.
///
/// It needs only a part of a file, while a model needs all of it.
package struct EntityProfile: Sendable {
    /// This framework's hash of the entity.
    package let ownHash: Data
    /// The names of the properties that the entity declares.
    package let declared: Set<String>
    /// Whether it is abstract, its renaming identifier, and its superentity.
    package let traits: String
    /// The traits of each property, including inherited ones, that determine the possible migrations: its kind and type, and whether it requires a
    /// value and has a default.
    package let propertyTraits: [String: String]

    package init(of entity: NSEntityDescription) {
        ownHash = entity.ownVersionHash
        declared = Set(entity.declaredProperties.map(\.name))
        var parts = ["\(entity.isAbstract)", entity.renamingIdentifier ?? ""]
        var ancestor = entity.superentity
        while let parent = ancestor {
            parts.append(parent.name ?? "")
            ancestor = parent.superentity
        }
        traits = parts.joined(separator: "\u{1F}")
        propertyTraits = Dictionary(
            entity.properties.map { ($0.name, Self.traits(of: $0)) }, uniquingKeysWith: { first, _ in first })
    }

    private static func traits(of property: NSPropertyDescription) -> String {
        var parts = [property.renamingIdentifier ?? "", "\(property.isOptional)", "\(property.isTransient)"]
        switch property {
        case let attribute as NSAttributeDescription:
            parts += [
                "\(attribute.attributeType.rawValue)", "\(attribute.defaultValue == nil)", "\(attribute is NSDerivedAttributeDescription)",
            ]
            for element in (attribute as? NSCompositeAttributeDescription)?.elements ?? [] { parts += [element.name, traits(of: element)] }
        case let relationship as NSRelationshipDescription:
            parts += [
                "\(relationship.isToMany)", relationship.destinationEntity?.name ?? relationship.missingDestination ?? "",
                relationship.inverseRelationship?.name ?? relationship.missingInverse ?? "",
            ]
        default: break
        }
        return parts.joined(separator: "\u{1F}")
    }
}

/// The profiles of the entities of versions, kept by the text that they were made of: two versions of a model mostly have the same text for most of
/// their entities, so that a hundred versions cost hardly more than one.
///
/// Its members may be called on any thread.
package final class EntityProfiles: Sendable {
    /// The profiles of the process.
    package static let shared = EntityProfiles()
    /// How many texts are kept; more are forgotten together.
    private static let limit = 10_000

    private struct Tag {
        let name: String
        let parent: String?
    }

    private struct Kept {
        var tags: [String: Tag] = [:]
        var profiles: [String: EntityProfile] = [:]
        var madeCount = 0
    }
    private let kept = LockedBox(Kept())

    package init() {}

    /// How many profiles, and with them hashes, have been made.
    package var madeCount: Int { kept.withLock { $0.madeCount } }

    /// Returns the profiles of the entities in the XML of an `.xcdatamodel`, by name; nil if only the model reader can interpret it.
    package func profiles(in contents: Data) -> [String: EntityProfile]? {
        guard let texts = EntityTexts(contents) else { return nil }
        var entities: [String: (text: String, parent: String?)] = [:]
        for text in texts.entities {
            guard let tag = tag(of: text), entities.updateValue((text, tag.parent), forKey: tag.name) == nil else { return nil }
        }
        var profiles: [String: EntityProfile] = [:]
        for (name, entity) in entities {
            // A hash includes inherited properties, too.
            var parts = [entity.text]
            var parent = entity.parent
            while let above = parent {
                guard let ancestor = entities[above], parts.count <= ModelAssembly.inheritanceLimit else { return nil }
                parts.append(ancestor.text)
                parent = ancestor.parent
            }
            let text = parts.count == 1 && texts.composites.isEmpty ? entity.text : texts.composites + parts.joined()
            guard let profile = profile(of: name, text) else { return nil }
            profiles[name] = profile
        }
        return profiles
    }

    private func tag(of text: String) -> Tag? {
        if let tag = kept.withLock({ $0.tags[text] }) { return tag }
        guard var scanner = try? XMLScanner(Data(text.utf8)), case .start(_, let attributes, _, _)? = try? scanner.next(),
            let name = attributes.first(where: { $0.name == "name" })?.value
        else { return nil }
        let tag = Tag(name: name, parent: attributes.first { $0.name == "parentEntity" }?.value)
        kept.withLock {
            if $0.tags.count >= Self.limit { $0.tags = [:] }
            $0.tags[text] = tag
        }
        return tag
    }

    /// Returns the profile of an entity by a text that has the entity, its ancestors and its composites.
    private func profile(of name: String, _ text: String) -> EntityProfile? {
        // The text of a parent may be that of a child's profile, too: the name is a part of the key.
        let key = "\(name)\u{1F}\(text)"
        if let profile = kept.withLock({ $0.profiles[key] }) { return profile }
        let model = NSManagedObjectModel()
        let document = "<model type=\"com.apple.IDECoreDataModeler.DataModel\">\(text)</model>"
        // Entities that the text does not have keep their names in relationships, which hashes are over.
        guard (try? ContentsReader.read(Data(document.utf8), file: nil, into: model)) != nil, let entity = model.entitiesByName[name] else {
            return nil
        }
        let profile = EntityProfile(of: entity)
        kept.withLock {
            if $0.profiles.count >= Self.limit { $0.profiles = [:] }
            $0.profiles[key] = profile
            $0.madeCount += 1
        }
        return profile
    }
}
