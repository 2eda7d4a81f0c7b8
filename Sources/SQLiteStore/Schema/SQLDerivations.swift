internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// The ways to compute a derived attribute.
enum SQLDerivation {
    /// From the row itself, when it is written.
    case local(ExpressionTree)
    /// By triggers, created by the statements.
    case triggers([SQLTrigger])
    /// Not computed: the value stays as it was set.
    case none
}

/// A trigger of a new store.
struct SQLTrigger {
    let name: SQLIdentifier
    let sql: String
}

/// Determines how derived attributes are computed: like Core Data's, the time of a save, an attribute of a related object, and counts and
/// sums of related objects by triggers, so that every writer of the file maintains them; an expression over the row when it is written.
struct SQLDerivations {
    private let schema: SQLSchema

    init(_ schema: SQLSchema) { self.schema = schema }

    /// The triggers of a new store.
    var triggers: [SQLTrigger] {
        schema.entities.flatMap { entity in
            entity.entity.declaredProperties.compactMap { $0 as? NSDerivedAttributeDescription }.sorted { $0.name < $1.name }
                .flatMap { attribute -> [SQLTrigger] in
                    if case .triggers(let triggers) = derivation(of: attribute, entity) { triggers } else { [] }
                }
        }
    }

    func derivation(of attribute: NSDerivedAttributeDescription, _ entity: SQLEntity) -> SQLDerivation {
        guard case .attribute(let place) = entity[attribute], let expression = try? attribute.derivationExpression?.tree() else {
            return .none
        }
        let target = Target(schema: schema, entity: entity, column: place.column, attribute: attribute.name)
        switch expression {
        case .function(let name, let arguments) where arguments.isEmpty && Self.plain(name) == "now": return .triggers(target.time())
        case .function(let name, let arguments) where arguments.count == 1 && ["count", "sum"].contains(Self.plain(name)):
            guard case .keyPath(let keys) = arguments[0] else { break }
            if let triggers = target.collected(keys, Self.plain(name)) { return .triggers(triggers) }
        case .keyPath(let keys):
            if let triggers = target.path(keys) { return .triggers(triggers) }
        default: break
        }
        return Self.isLocal(expression, entity.entity) ? .local(expression) : .none
    }

    private static func plain(_ name: String) -> String { name.hasSuffix(":") ? String(name.dropLast()) : name }

    /// Returns whether an expression reads attributes of the row only.
    private static func isLocal(_ expression: ExpressionTree, _ entity: NSEntityDescription) -> Bool {
        var isLocal = true
        _ = expression.replacing { part in
            switch part {
            case .keyPath(let keys):
                let attribute = entity.propertiesByName[keys.first ?? ""] as? NSAttributeDescription
                if keys.count != 1 || attribute == nil || attribute is NSDerivedAttributeDescription { isLocal = false }
            case .variable, .navigation, .subquery, .fetch, .block, .anyKey, .assignment, .evaluatedObject: isLocal = false
            default: break
            }
            return nil
        }
        return isLocal
    }

    // MARK: Triggers

    /// The attribute that triggers maintain.
    private struct Target {
        let schema: SQLSchema
        let entity: SQLEntity
        let column: SQLIdentifier
        let attribute: String

        private func trigger(_ ending: String, _ event: String, on table: SQLIdentifier, when: String? = nil, _ body: String) -> SQLTrigger
        {
            let name = SQLIdentifier("Z_DA_\(entity.table.name)_\(entity.entity.name ?? "")_\(attribute)_\(ending)")
            let condition = when.map { " WHEN \($0)" } ?? ""
            return SQLTrigger(
                name: name,
                sql: "CREATE TRIGGER IF NOT EXISTS \(name) AFTER \(event) ON \(table) FOR EACH ROW\(condition) BEGIN \(body) END")
        }

        /// The condition for the entity's rows in a shared table.
        private var kind: String? { entity.condition(includingSubentities: true, alias: "NEW") }

        func time() -> [SQLTrigger] {
            let body = "UPDATE \(entity.table) SET \(column) = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK;"
            return [
                trigger("INSERT", "INSERT", on: entity.table, when: kind, body),
                trigger("UPDATE", "UPDATE OF Z_OPT", on: entity.table, when: kind, body),
            ]
        }

        /// Returns the triggers for an attribute of a to-one relationship's destination, or for a count or sum of a to-many
        /// relationship's.
        func path(_ keys: [String]) -> [SQLTrigger]? {
            if let last = keys.last, last == "@count" { return collected(Array(keys.dropLast()), "count") }
            if keys.count == 3, keys[1] == "@sum" { return collected([keys[0], keys[2]], "sum") }
            if keys.count == 3, keys[2] == "@sum" { return collected([keys[0], keys[1]], "sum") }
            guard keys.count == 2, let (relationship, destination, source) = step(keys), case .toOne(let key) = entity[relationship] else {
                return nil
            }
            let value = "(SELECT \(source) FROM \(destination.table) WHERE Z_PK = NEW.\(key.column))"
            let body = "UPDATE \(entity.table) SET \(column) = \(value) WHERE Z_PK = NEW.Z_PK;"
            return [
                trigger("INSERT", "INSERT", on: entity.table, when: kind, body),
                trigger("UPDATE", "UPDATE OF \(key.column)", on: entity.table, when: kind, body),
                trigger(
                    "DESTINATION_INSERT", "INSERT", on: destination.table,
                    "UPDATE \(entity.table) SET \(column) = NEW.\(source) WHERE \(key.column) = NEW.Z_PK;"),
                trigger(
                    "DESTINATION_UPDATE", "UPDATE OF \(source)", on: destination.table,
                    "UPDATE \(entity.table) SET \(column) = NEW.\(source) WHERE \(key.column) = NEW.Z_PK;"),
            ]
        }

        /// Returns a relationship and the column of an attribute of its destination.
        private func step(_ keys: [String]) -> (NSRelationshipDescription, SQLEntity, SQLIdentifier)? {
            guard let relationship = entity.entity.propertiesByName[keys[0]] as? NSRelationshipDescription, !relationship.isTransient,
                let destination = relationship.destinationEntity.flatMap(schema.entity),
                let attribute = destination.entity.propertiesByName[keys[1]] as? NSAttributeDescription,
                case .attribute(let place) = destination[attribute]
            else { return nil }
            return (relationship, destination, place.column)
        }

        func collected(_ keys: [String], _ function: String) -> [SQLTrigger]? {
            let relationship: NSRelationshipDescription
            var source: SQLIdentifier?
            if function == "count" {
                guard keys.count == 1, let found = entity.entity.propertiesByName[keys[0]] as? NSRelationshipDescription, !found.isTransient
                else { return nil }
                relationship = found
            } else {
                guard keys.count == 2, let (found, _, column) = step(keys) else { return nil }
                relationship = found
                source = column
            }
            guard relationship.isToMany, case .toMany(let place) = entity[relationship] else { return nil }
            switch place {
            case .foreignKey(let key): return collected(key, source)
            case .join(let join):
                guard !join.isReflexive, let destination = relationship.destinationEntity.flatMap(schema.entity) else { return nil }
                return collected(join, destination, source)
            }
        }

        /// Returns the value computed from all related rows of an owner.
        private func all(_ key: SQLForeignKey, _ source: SQLIdentifier?, owner: String) -> String {
            let value = source.map { "ifnull(sum(\($0)), 0)" } ?? "count(*)"
            return
                "UPDATE \(entity.table) SET \(column) = (SELECT \(value) FROM \(key.table) WHERE \(key.column) = \(owner)) WHERE Z_PK = \(owner);"
        }

        private func collected(_ key: SQLForeignKey, _ source: SQLIdentifier?) -> [SQLTrigger] {
            // A count is updated incrementally, because many rows may be added to one owner in a save; a sum of floating-point numbers
            // would accumulate errors.
            func joins(_ owner: String) -> String {
                source == nil
                    ? "UPDATE \(entity.table) SET \(column) = ifnull(\(column), 0) + 1 WHERE Z_PK = \(owner);"
                    : all(key, source, owner: owner)
            }
            func leaves(_ owner: String) -> String {
                source == nil
                    ? "UPDATE \(entity.table) SET \(column) = ifnull(\(column), 0) - 1 WHERE Z_PK = \(owner);"
                    : all(key, source, owner: owner)
            }
            let (old, new) = ("OLD.\(key.column)", "NEW.\(key.column)")
            var triggers = [
                trigger("INSERT", "INSERT", on: entity.table, when: kind, all(key, source, owner: "NEW.Z_PK")),
                trigger("DESTINATION_INSERT", "INSERT", on: key.table, when: "\(new) IS NOT NULL", joins(new)),
                trigger(
                    "DESTINATION_UPDATE", "UPDATE OF \(key.column)", on: key.table, when: "\(old) IS NOT \(new)",
                    leaves(old) + " " + joins(new)),
                trigger("DESTINATION_DELETE", "DELETE", on: key.table, when: "\(old) IS NOT NULL", leaves(old)),
            ]
            if let source {
                triggers.append(
                    trigger("DESTINATION_VALUE_UPDATE", "UPDATE OF \(source)", on: key.table, when: "\(new) IS NOT NULL", joins(new)))
            }
            return triggers
        }

        private func collected(_ join: SQLJoin, _ destination: SQLEntity, _ source: SQLIdentifier?) -> [SQLTrigger] {
            let value = source.map { "ifnull(sum(t.\($0)), 0)" } ?? "count(*)"
            func all(_ owner: String) -> String {
                "UPDATE \(entity.table) SET \(column) = (SELECT \(value) FROM \(join.table) j JOIN \(destination.table) t ON t.Z_PK = j.\(join.other) "
                    + "WHERE j.\(join.own) = \(owner)) WHERE Z_PK = \(owner);"
            }
            var triggers = [
                trigger("INSERT", "INSERT", on: entity.table, when: kind, all("NEW.Z_PK")),
                trigger("JOIN_INSERT", "INSERT", on: join.table, all("NEW.\(join.own)")),
                trigger("JOIN_DELETE", "DELETE", on: join.table, all("OLD.\(join.own)")),
            ]
            if let source {
                triggers.append(
                    trigger(
                        "DESTINATION_UPDATE", "UPDATE OF \(source)", on: destination.table,
                        "UPDATE \(entity.table) SET \(column) = (SELECT \(value) FROM \(join.table) j JOIN \(destination.table) t "
                            + "ON t.Z_PK = j.\(join.other) WHERE j.\(join.own) = \(entity.table).Z_PK) "
                            + "WHERE Z_PK IN (SELECT \(join.own) FROM \(join.table) WHERE \(join.other) = NEW.Z_PK);"))
            }
            return triggers
        }
    }
}
