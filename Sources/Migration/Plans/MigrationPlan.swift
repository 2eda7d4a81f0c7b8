public import Foundation
public import ObjectGraph

/// The steps in which opening a store would migrate it to the version of the coordinator's model.
///
/// ``ObjectGraph/NSPersistentStoreCoordinator/migrationPlan(for:)`` returns it without changing anything. Print it to read it.
public struct MigrationPlan: Sendable, CustomStringConvertible {
    /// One step of a migration.
    public struct Step: Sendable, CustomStringConvertible {
        /// The way in which a step migrates the store from one version to the next.
        public enum Way: Sendable, Equatable {
            /// The store changes its files in place, by an inferred mapping.
            case inPlace
            /// The store writes a copy that replaces it, by an inferred mapping.
            case copied
            /// The store itself, by an inferred mapping: in place if only tables and columns change. This is not known before the earlier steps.
            case inPlaceOrCopied
            /// Objects are recreated by a mapping model with this name.
            case mappingModel(String)
            /// Objects are recreated by an inferred mapping.
            case inferredMapping
        }

        /// The version before the step: the name in its bundle, its identifiers, or its checksum.
        public let source: String
        /// The version after the step.
        public let destination: String
        /// The way in which the step migrates the store.
        public let way: Way
        /// The label of the stage; nil if the step belongs to no stage, or its stage has no label.
        public let stage: String?
        /// Whether the step is a custom stage, in which the program's handlers run.
        public let isCustomStage: Bool

        /// The step in one line.
        public var description: String {
            let means =
                switch way {
                case .inPlace: "in place"
                case .copied: "as a copy"
                case .inPlaceOrCopied: "in place or as a copy"
                case .mappingModel(let name): "by the mapping model “\(name)”"
                case .inferredMapping: "by an inferred mapping, object by object"
                }
            let stage = isCustomStage ? ", custom stage\(stage.map { " “\($0)”" } ?? "")" : stage.map { ", stage “\($0)”" } ?? ""
            return "\(source) → \(destination): \(means)\(stage)"
        }
    }

    /// A row that the new version forbids.
    public struct ForbiddenRow: Sendable, Equatable {
        /// The URI of the object before the migration.
        public let uri: URL
        /// The entity, in the new version.
        public let entity: String
        /// The properties that have no value, or the values of another row.
        public let properties: [String]
        /// Whether the row has the same values as another row in properties that must be unique; false if a required value is missing.
        public let violatesConstraint: Bool
    }

    /// The place of the store.
    public let url: URL
    /// The steps, in order; empty for a store that can be opened as it is.
    public let steps: [Step]
    /// The number of objects of each entity after the steps, by the entity's name in the new version; nil if the class of the store does not report
    /// it, or a mapping model decides.
    public let rows: [String: Int]?
    /// The number of objects that the steps delete with their entity, by the name of the entity before its step.
    public let deletedRows: [String: Int]
    /// The maximum number of bytes that the steps need on the disk in addition to the store; nil if the class of the store does not report it.
    public let bytes: Int64?
    /// The number of rows that the version of the first step forbids; rows that later versions forbid are not known in advance.
    public let forbiddenRowCount: Int
    /// The first thousand of them.
    public let forbiddenRows: [ForbiddenRow]
    /// The handling of these rows.
    public let forbiddenRowsPolicy: ForbiddenRowsPolicy

    /// Whether the store can be opened as it is.
    public var isEmpty: Bool { steps.isEmpty }

    /// Whether the migration would fail for rows that the new version forbids.
    public var wouldFail: Bool { forbiddenRowCount > 0 && forbiddenRowsPolicy == .fail }

    /// The plan as text, for people.
    public var description: String {
        if isEmpty { return "The store at \(url.path) is of the model's version." }
        var lines = ["The store at \(url.path) would be migrated in \(steps.count == 1 ? "one step" : "\(steps.count) steps"):"]
        lines += steps.enumerated().map { "\($0 + 1). \($1)" }
        if let rows {
            let list = rows.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            lines.append("Rows: \(rows.values.reduce(0, +))\(list.isEmpty ? "" : " (\(list))").")
        }
        if !deletedRows.isEmpty {
            lines.append(
                "Deleted with their entity: \(deletedRows.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))."
            )
        }
        if let bytes { lines.append("Space needed: \(bytes) bytes.") }
        guard forbiddenRowCount > 0 else { return lines.joined(separator: "\n") }
        lines.append("The new version forbids \(forbiddenRowCount) rows (policy: \(forbiddenRowsPolicy.rawValue)):")
        for row in forbiddenRows.prefix(20) {
            let what = row.violatesConstraint ? "not unique" : "no value"
            lines.append("  \(row.uri.absoluteString): \(row.entity).\(row.properties.joined(separator: ", ")): \(what)")
        }
        if forbiddenRowCount > 20 { lines.append("  …") }
        return lines.joined(separator: "\n")
    }
}
