export {
  CheckField,
  FormButton,
  type IOption,
  SecretField,
  SelectField,
  TextField
} from './fields';
