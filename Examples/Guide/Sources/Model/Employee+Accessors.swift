// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
public import CoreData

extension Employee {
    private static let nameProperty = ManagedProperty<String>("name")
    @usableFromInline @_silgen_name("$s5Guide8EmployeeC4nameSSvg") final func _getName() -> String { self[Self.nameProperty] }
    @usableFromInline @_silgen_name("$s5Guide8EmployeeC4nameSSvs")
    final func _setName(_ value: consuming String) { self[Self.nameProperty] = value }

    private static let salaryProperty = ManagedProperty<Int64>("salary")
    @usableFromInline @_silgen_name("$s5Guide8EmployeeC6salarys5Int64Vvg") final func _getSalary() -> Int64 { self[Self.salaryProperty] }
    @usableFromInline @_silgen_name("$s5Guide8EmployeeC6salarys5Int64Vvs")
    final func _setSalary(_ value: consuming Int64) { self[Self.salaryProperty] = value }

    private static let hiredProperty = ManagedProperty<Date?>("hired")
    @usableFromInline @_silgen_name("$s5Guide8EmployeeC5hired20FoundationEssentials4DateVSgvg") final func _getHired() -> Date? {
        self[Self.hiredProperty]
    }
    @usableFromInline @_silgen_name("$s5Guide8EmployeeC5hired20FoundationEssentials4DateVSgvs")
    final func _setHired(_ value: consuming Date?) { self[Self.hiredProperty] = value }

    private static let departmentProperty = ManagedProperty<Department?>("department")
    @usableFromInline @_silgen_name("$s5Guide8EmployeeC10departmentAA10DepartmentCSgvg") final func _getDepartment() -> Department? {
        self[Self.departmentProperty]
    }
    @usableFromInline @_silgen_name("$s5Guide8EmployeeC10departmentAA10DepartmentCSgvs")
    final func _setDepartment(_ value: consuming Department?) { self[Self.departmentProperty] = value }
}
#endif
